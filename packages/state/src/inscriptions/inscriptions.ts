/**
 * Operations of protocols in payloads and in programs that inputs reveal, and how many transactions
 * state those of each protocol by hour. A batch without any does nothing.
 */
import { type ChainTime, inPipeline, type TransactionKey } from '@kasgres/database';
import type { Sompi } from '@kasgres/kaspa';
import type { ClientBase } from 'pg';
import type { DerivedState } from '../derived-state.ts';
import type { StateChanges, TransactionDeltas } from '../state-changes.ts';
import { columnsOf } from '../queryable.ts';
import { Reveals } from '../reveals/reveals.ts';
import { type Inscribed, inscribedInPayload, inscribedInProgram } from './inscribed.ts';
import { ProtocolHours } from './protocol-hours.ts';
import { withOwners } from './read.ts';
import { rebuildInscriptions } from './rebuild.ts';
import { verifyInscriptions } from './verify.ts';
import { deleteUnusedKinds, writeInscriptions } from './write.ts';

interface TimeAndFee {
  chainTime: ChainTime;
  fee: Sompi;
}

interface RemovedRow {
  transaction: number;
  kind: bigint;
  protocol: string;
}

class InscriptionChanges {
  readonly inPayloads: Inscribed[] = [];
  /** The accepted transactions whose payload states something. */
  readonly accepted = new Map<TransactionKey, TimeAndFee>();
  removedRows: readonly RemovedRow[] = [];
  readonly removed: [TransactionKey, TimeAndFee][] = [];
}

/**
 * Must run when acceptance by removed chain blocks is reverted. A transaction that was accepted
 * before a gap, too, keeps its rows.
 */
const DELETE_REMOVED = `
  delete from inscriptions i
   where i.transaction_id = any($1::bigint[])
     and not exists (select from transactions t
       where t.id = i.transaction_id and t.accepting_index <= $2)`;

const CHANGE_HOURS = `
  insert into protocol_hours (hour, protocol, transactions, fees)
  select * from unnest($1::integer[], $2::text[], $3::bigint[], $4::numeric[]) changed (hour,
    protocol, transactions, fees) order by hour, protocol
  on conflict (hour, protocol) do update set
    transactions = protocol_hours.transactions + excluded.transactions,
      fees = protocol_hours.fees + excluded.fees`;

const DELETE_HOURS = `
  delete from protocol_hours h using unnest($1::integer[], $2::text[]) changed (hour, protocol)
   where h.hour = changed.hour and h.protocol = changed.protocol and h.transactions = 0`;

export const inscriptions: DerivedState = {
  applies: 'after reads',
  tables: { emptied: ['inscriptions', 'inscription_kinds', 'protocol_hours'] },
  verify: { 4: verifyInscriptions },
  rebuild: { fromRows: rebuildInscriptions },

  collect(item, changes) {
    if (item.kind !== 'accepted' || item.transaction.isCoinbase) return;
    const { key, content, spent } = item.transaction;
    const found = inscribedInPayload(content.payload, key, spent[0]?.script);
    if (found === undefined) return;
    const { inPayloads, accepted } = changes.of(InscriptionChanges);
    inPayloads.push(found);
    accepted.set(key, timeAndFeeOf(item.transaction));
  },

  async revert(client, removed, changes) {
    const { rows } = await client.query<RemovedRow>({
      name: 'removed-inscriptions',
      text: `select i.transaction_id::float8 as transaction, i.kind_id as kind, k.protocol
               from inscriptions i join inscription_kinds k on k.id = i.kind_id
                 where i.transaction_id = any($1::bigint[])`,
      values: [removed.accepted],
    });
    const inscribed = changes.of(InscriptionChanges);
    inscribed.removedRows = rows;
    const keys = new Set(rows.map(({ transaction }) => transaction));
    for (const transaction of await removed.readTransactions())
      if (keys.has(transaction.key)) inscribed.removed.push([transaction.key, timeAndFeeOf(transaction)]);
  },

  async apply(client, changes) {
    const { inPayloads, removedRows } = changes.of(InscriptionChanges);
    const found = [...inPayloads, ...(await findInPrograms(client, changes))];
    if (found.length === 0 && removedRows.length === 0) return;
    const hours = (await changeOfHours(client, changes, found)).rows();
    const removed = [...new Set(removedRows.map(({ transaction }) => transaction))];
    const kinds = new Set(removedRows.map(({ kind }) => kind));
    const { fork } = changes.range;
    await inPipeline(client, [
      ...when(removed.length > 0, () =>
        client.query({ name: 'delete-inscriptions', text: DELETE_REMOVED, values: [removed, fork] }),
      ),
      () => writeInscriptions(client, found),
      ...when(kinds.size > 0, () => deleteUnusedKinds(client, kinds)),
      ...when(hours.length > 0, () =>
        client.query({
          name: 'change-protocol-hours',
          text: CHANGE_HOURS,
          values: columnsOf(hours, 'hour', 'protocol', 'transactions', 'fees'),
        }),
      ),
      ...when(removed.length > 0 && hours.length > 0, () =>
        client.query({
          name: 'delete-protocol-hours',
          text: DELETE_HOURS,
          values: columnsOf(hours, 'hour', 'protocol'),
        }),
      ),
    ]);
  },
};

const when = <T>(condition: boolean, statement: () => Promise<T>): (() => Promise<T>)[] =>
  condition ? [statement] : [];

function timeAndFeeOf({ chainBlock, deltas }: Pick<TransactionDeltas, 'chainBlock' | 'deltas'>): TimeAndFee {
  let fee = 0n;
  for (const { sent, received } of deltas.values()) fee += sent - received;
  return { chainTime: chainBlock.chainTime, fee };
}

async function findInPrograms(client: ClientBase, changes: StateChanges): Promise<Inscribed[]> {
  const found = changes
    .of(Reveals)
    .found.flatMap(({ program, transaction, input }) => inscribedInProgram(program, transaction, input) ?? []);
  return await withOwners(client, found);
}

async function changeOfHours(
  client: ClientBase,
  changes: StateChanges,
  found: readonly Inscribed[],
): Promise<ProtocolHours> {
  const { accepted, removed, removedRows } = changes.of(InscriptionChanges);
  const reveals = changes.of(Reveals);
  const hours = new ProtocolHours();
  const removedProtocols = Map.groupBy(removedRows, ({ transaction }) => transaction);
  for (const [transaction, { chainTime, fee }] of removed) {
    const protocols = removedProtocols.get(transaction) ?? [];
    hours.add(
      protocols.map(({ protocol }) => protocol),
      chainTime,
      fee,
      -1,
    );
  }
  for (const { transaction, chainBlock, fee } of reveals.found)
    accepted.set(transaction, { chainTime: chainBlock.chainTime, fee });
  const settled = new Set(reveals.settled.map(({ transaction }) => transaction));
  const counted = await readProtocols(
    client,
    [...Map.groupBy(found, ({ transaction }) => transaction).keys()].filter((key) => settled.has(key)),
  );
  for (const [transaction, ofTransaction] of Map.groupBy(found, (inscribed) => inscribed.transaction)) {
    const found = accepted.get(transaction);
    if (found === undefined) continue;
    const protocols = ofTransaction
      .map(({ protocol }) => protocol)
      .filter((protocol) => !counted.has(`${transaction} ${protocol}`));
    hours.add(protocols, found.chainTime, found.fee, 1);
  }
  return hours;
}

/**
 * Returns which transactions of earlier batches count for which protocols already, by their
 * payloads.
 */
async function readProtocols(client: ClientBase, transactions: readonly TransactionKey[]): Promise<Set<string>> {
  if (transactions.length === 0) return new Set();
  const { rows } = await client.query<{ transaction: number; protocol: string }>(
    `select distinct i.transaction_id::float8 as transaction, k.protocol
       from inscriptions i join inscription_kinds k on k.id = i.kind_id
         where i.transaction_id = any($1::bigint[])`,
    [transactions],
  );
  return new Set(rows.map(({ transaction, protocol }) => `${transaction} ${protocol}`));
}
