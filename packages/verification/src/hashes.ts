/**
 * Invariant 8: ids, hashes, merkle roots, and types and addresses of scripts recomputed from stored
 * rows equal the stored ones.
 */
import { transactionIdIs } from '@kasgres/database';
import {
  classifyScript,
  type CoinbasePayload,
  CoinbasePayloadError,
  computeMass,
  decodeCoinbasePayload,
  findNetwork,
  headerHash,
  merkleRoot,
  scriptToAddress,
  toHex,
  transactionHash,
  transactionId,
} from '@kasgres/kaspa';
import { pagesByKey, type Queryable } from '@kasgres/state';
import { findFaults, findNetworkName } from './queries.ts';
import { EVERYTHING, type From } from './since.ts';
import { storedBlocks } from './stored-blocks.ts';
import { storedTransactions } from './stored-transactions.ts';

const MOST_FAULTS = 20;

export async function checkInvariant8(db: Queryable): Promise<string[]> {
  return [...(await checkTransactions(db)), ...(await checkBlocks(db)), ...(await checkScripts(db))];
}

/** Returns the faults, one sentence each (about the first 20). */
export async function checkTransactions(db: Queryable, from: From = EVERYTHING): Promise<string[]> {
  const wrong: string[] = [];
  for await (const stored of storedTransactions(db, from)) {
    if (wrong.length >= MOST_FAULTS) break;
    const name = `transaction ${toHex(stored.transactionId)}, variant ${stored.variant}`;
    const { transaction } = stored;
    if (!equal(transactionId(transaction), stored.transactionId)) wrong.push(`${name}: its rows give another id`);
    if (!equal(transactionHash(transaction), stored.hash)) wrong.push(`${name}: its rows give another hash`);
    if (computeMass(transaction) !== stored.computeMass) wrong.push(`${name}: its rows give another compute mass`);
  }
  // The index on ids is not unique.
  const repeated = await findFaults(db, {
    'transaction {} has several rows': `
      select encode(t.transaction_id, 'hex') from transactions t
      where t.id >= ${from.transactionId} and exists (
        select from transactions earlier
        where ${transactionIdIs('earlier', 't.transaction_id')}
          and earlier.id < t.id)`,
  });
  return [...wrong, ...repeated];
}

/** Returns the faults, one sentence each (about the first 20). */
export async function checkBlocks(db: Queryable, from: From = EVERYTHING): Promise<string[]> {
  const wrong: string[] = [];
  for await (const { hash, header, merkleLeaves, miner, coinbasePayload } of storedBlocks(db, from)) {
    if (wrong.length >= MOST_FAULTS) break;
    const name = `block ${toHex(hash)}`;
    if (!equal(headerHash(header), hash)) wrong.push(`${name}: its rows give another hash`);
    const leaves = merkleLeaves.filter((leaf) => leaf !== null);
    if (leaves.length !== merkleLeaves.length) wrong.push(`${name}: it carries a variant that is not stored`);
    else if (!equal(merkleRoot(leaves), header.hashMerkleRoot))
      wrong.push(`${name}: its rows give another merkle root`);
    const isGenesis = header.parentsByLevel.length === 0;
    const named = isGenesis || coinbasePayload === null ? undefined : decodeMiner(coinbasePayload);
    if (named !== (miner && describeMiner(miner))) wrong.push(`${name}: its coinbase names another miner or subsidy`);
  }
  return wrong;
}

function decodeMiner(payload: Uint8Array): string | undefined {
  try {
    return describeMiner(decodeCoinbasePayload(payload));
  } catch (error) {
    if (error instanceof CoinbasePayloadError) return undefined;
    throw error;
  }
}

const describeMiner = ({
  scriptPublicKey: { version, script },
  subsidy,
}: Pick<CoinbasePayload, 'scriptPublicKey' | 'subsidy'>) => `${subsidy} sompi for version ${version} ${toHex(script)}`;

function equal(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

/** A script may have 10,000 bytes. */
const SELECT_SCRIPTS = 'select id, version, script, type, address from scripts where id > $1 order by id limit 5000';

interface ScriptRow {
  id: bigint;
  version: number;
  script: Buffer;
  type: string;
  address: string | null;
}

/**
 * Checks that each script has one row. Returns the faults, one sentence each (the first 20 of a
 * kind).
 */
export async function checkScripts(db: Queryable): Promise<string[]> {
  const name = await findNetworkName(db);
  const network = findNetwork(name ?? '');
  if (network === undefined) return [`the network ${JSON.stringify(name)} of the database is unknown`];
  const wrong: string[] = [];
  for await (const rows of pagesByKey<ScriptRow>(db, SELECT_SCRIPTS, -1n)) {
    for (const { id, version, script, type, address } of rows) {
      const expectedType = classifyScript({ version, script });
      const expected = scriptToAddress({ version, script }, network.addressPrefix) ?? null;
      if (type !== expectedType) wrong.push(`script ${id} has type ${type} instead of ${expectedType}`);
      if (address !== expected) wrong.push(`script ${id} has address ${address} instead of ${expected}`);
    }
    if (wrong.length >= MOST_FAULTS) break;
  }
  const duplicates = await findFaults(db, {
    // Groups by a hash, since scripts may have any length.
    'scripts {} are the same script': `
      select array_agg(id order by id) from scripts
      group by hashtextextended(encode(script, 'hex'), 0), version, script having count(*) > 1`,
  });
  return [...wrong.slice(0, MOST_FAULTS), ...duplicates];
}
