import {
  checkCovenants,
  type CovenantError,
  fromHex,
  type Hash,
  toHex,
  type TransactionInput,
  type TransactionOutput,
} from '@kasgres/kaspa';
import { pagesByKey, type Queryable } from '../queryable.ts';

const MAX_FAULTS = 20;

/** Hashes, scripts and ids are hex. */
interface BindingRow {
  id: bigint;
  transactionId: string;
  inputs: { index: number; transactionId: string; previousIndex: number; covenantId: string | null }[] | null;
  outputs: {
    index: number;
    amount: string;
    version: number;
    script: string;
    authorizingInput: number;
    covenantId: string;
  }[];
}

/**
 * Accepted transactions with bound outputs. $2: the chain index of the latest bootstrap block,
 * before which spent outputs may not be known
 */
const SELECT_BINDINGS = `
  select t.id, encode(t.transaction_id, 'hex') as "transactionId",
         (select json_agg(json_build_object(
                   'index', i.index, 'previousIndex', i.previous_index, 'covenantId',
                     encode(coalesce(o.covenant_id, u.covenant_id), 'hex'),
                   'transactionId', encode(coalesce(p.transaction_id, e.transaction_id,
                     i.previous_transaction_hash), 'hex')))
            from transaction_inputs i
            left join transactions p on p.id = i.previous_transaction_id
            left join pre_bootstrap_transactions e on e.id = i.previous_transaction_id
            left join transaction_outputs o
              on o.transaction_id = i.previous_transaction_id and o.index = i.previous_index
                and o.covenant_id is not null
            left join bootstrap_utxos u on u.transaction_id = i.previous_transaction_id
              and u.index = i.previous_index
           where i.transaction_id = t.id) as inputs,
         (select json_agg(json_build_object(
                   'index', o.index, 'amount', o.amount::text, 'version', s.version, 'script', encode(s.script, 'hex'),
                   'authorizingInput', o.covenant_authorizing_input, 'covenantId', encode(o.covenant_id, 'hex')))
            from transaction_outputs o join scripts s on s.id = o.script_id
           where o.transaction_id = t.id and o.covenant_id is not null) as outputs
    from (select distinct o.transaction_id as id
            from transaction_outputs o join transactions t on t.id = o.transaction_id
           where o.covenant_id is not null and o.transaction_id > $1 and t.accepting_index > $2
           order by 1 limit 100) bound
    join transactions t using (id)
   order by t.id`;

/**
 * Checks bindings as a node does: each continues the covenant of its input, or its id is the hash
 * of a genesis.
 */
export async function verifyBindings(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ latest: bigint | null }>('select max(chain_index) as latest from bootstrap_blocks');
  const faults: string[] = [];
  for await (const page of pagesByKey<BindingRow>(db, SELECT_BINDINGS, -1n, [rows[0]?.latest ?? -1n])) {
    for (const row of page) {
      const error = checkBindings(row);
      if (error === undefined) continue;
      faults.push(`the bindings of transaction ${row.transactionId} are invalid: ${describe(error)}`);
      if (faults.length >= MAX_FAULTS) return faults;
    }
  }
  return faults;
}

function checkBindings({ inputs: inputRows, outputs: outputRows }: BindingRow): CovenantError | undefined {
  const inputs: TransactionInput[] = [];
  const spent: (Hash | undefined)[] = [];
  for (const { index, transactionId, previousIndex, covenantId } of inputRows ?? []) {
    const previousOutpoint = { transactionId: fromHex(transactionId), index: previousIndex };
    inputs[index] = {
      previousOutpoint,
      signatureScript: new Uint8Array(),
      sequence: 0n,
      sigOpCount: 0,
      computeBudget: 0,
    };
    spent[index] = covenantId === null ? undefined : fromHex(covenantId);
  }
  const last = outputRows.reduce((highest, { index }) => Math.max(highest, index), 0);
  const unbound = { amount: 0n, scriptPublicKey: { version: 0, script: new Uint8Array() }, covenant: undefined };
  const outputs: TransactionOutput[] = Array.from({ length: last + 1 }, () => unbound);
  for (const { index, amount, version, script, authorizingInput, covenantId } of outputRows) {
    outputs[index] = {
      amount: BigInt(amount),
      scriptPublicKey: { version, script: fromHex(script) },
      covenant: { authorizingInput, covenantId: fromHex(covenantId) },
    };
  }
  return checkCovenants({ inputs, outputs }, spent);
}

function describe(error: CovenantError): string {
  return error.kind === 'wrong-genesis-id'
    ? `input ${error.authorizingInput} cannot create covenant ${toHex(error.covenantId)}`
    : `output ${error.output} names input ${error.authorizingInput}, which does not exist`;
}
