/** `kasgres clusters` reviews clusters that have reached their size limit (docs/clustering.md). */
import { approveCluster, type Connection, listClustersAtLimit, rejectHeldMerges } from '@kasgres/database';
import { decodeAddress, fromHex } from '@kasgres/kaspa';
import { FatalError } from '@kasgres/runtime';
import { Command } from 'commander';
import { z } from 'zod';
import { argument, print, printTable } from '../command-line.ts';
import { withDatabase } from '../with-database.ts';

type Kysely = Connection['kysely'];

const HELP = `
A merge that would make a cluster larger than its limit (CLUSTER_SIZE_LIMIT of the indexer) is held for review, since a very
large cluster is either an exchange or two owners mistaken for one. Look at the transaction that review prints, then approve
the growth or reject the merge. docs/clustering.md explains what to look for.

Examples:
  kasgres clusters review
  kasgres clusters approve kaspa:qq… --up-to 3000000
  kasgres clusters reject 5f0c…
`;

const size = argument(
  z
    .string()
    .regex(/^[1-9]\d{0,17}$/)
    .transform(BigInt),
  'a number of addresses',
);
const address = argument(z.string().refine(isAddress), 'an address with its prefix, such as kaspa:qr…');
const transactionId = argument(
  z
    .string()
    .regex(/^[0-9a-f]{64}$/i)
    .transform((text) => fromHex(text.toLowerCase())),
  '64 hex digits',
);

export function clustersCommand(): Command {
  const clusters = new Command('clusters')
    .description('review clusters that have reached their size limit')
    .addHelpText('after', HELP);

  clusters
    .command('review')
    .description('list clusters with held merges: their size, the size after the merges, and a transaction to look at')
    .action(() => withDatabase('clusters', ({ kysely }) => review(kysely)));

  clusters
    .command('approve')
    .description('let the cluster of an address grow; the indexer then carries out the held merges in order')
    .argument('<address>', 'any address of the cluster', address)
    .option('--up-to <size>', 'new size limit (default: large enough for all held merges)', size)
    .action((address: string, { upTo }: { upTo?: bigint }) =>
      withDatabase('clusters', ({ kysely }) => approve(kysely, address, upTo)),
    );

  clusters
    .command('reject')
    .description('never merge clusters because of this transaction')
    .argument('<transaction-id>', 'transaction id that review prints', transactionId)
    .action((id: Uint8Array) => withDatabase('clusters', ({ kysely }) => reject(kysely, id)));

  return clusters;
}

async function review(db: Kysely): Promise<void> {
  const clusters = await listClustersAtLimit(db);
  if (clusters.length === 0) return print('No merge is held.');
  printTable(clusters, {
    'cluster of': ({ address }) => address ?? '(no address)',
    size: 'size',
    limit: ({ sizeLimit }) => sizeLimit ?? 'as configured',
    held: 'heldMerges',
    'size after merges': 'sizeWithHeld',
    'example transaction': ({ transactionId }) => transactionId ?? '(removed by RETENTION)',
    transactions: 'transactions',
  });
}

async function approve(db: Kysely, address: string, upTo: bigint | undefined): Promise<void> {
  const approval = await approveCluster(db, address, upTo);
  if (approval === undefined) {
    throw new FatalError(`${address} is in no cluster. Run \`kasgres clusters review\` to see held merges.`);
  }
  print(
    `The cluster has ${approval.size} addresses and a limit of ${approval.sizeLimit} now. ` +
      `Held merges that the indexer will try: ${approval.approved}.`,
  );
}

async function reject(db: Kysely, id: Uint8Array): Promise<void> {
  const rejected = await rejectHeldMerges(db, id);
  if (rejected === 0)
    throw new FatalError(
      'No merge is held because of this transaction. Run `kasgres clusters review` to see held merges.',
    );
  print(`Rejected merges: ${rejected}.`);
}

function isAddress(text: string): boolean {
  try {
    decodeAddress(text);
    return true;
  } catch {
    return false;
  }
}
