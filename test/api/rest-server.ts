/** A database for the tests of /rest in the forms of kaspa-rest-server, as its pages read them. */
import { classifyScript } from '@kasgres/kaspa';
import { buildTransaction } from '@kasgres/devnet';
import { submittedForm } from '../support/compare/expected.ts';
import { type Harness, openHarness } from './harness.ts';

/** Opens a harness, with an address that has sent and received much. */
export async function openRestServer(): Promise<{ harness: Harness; address: string }> {
  const harness = await openHarness({ rounds: 250, seed: 'rest server' });
  await harness.atRest();
  const { rows } = await harness.database.pool.query<{ address: string }>(
    'select address from balances join scripts on id = script_id where sending_count > 2 order by transaction_count desc limit 1',
  );
  return { harness, address: rows[0]?.address as string };
}

/** Returns what requests a path under /rest, as a whole response or its JSON. */
export function requestsOf(harnessOf: () => Harness) {
  const ask = async (path: string, body?: object) => harnessOf().api.request(`/rest${path}`, body && { body });
  return { ask, get: async (path: string) => (await ask(path)).json };
}

export interface RestServerTransaction {
  transaction_id: string;
  block_time: number;
  inputs: { previous_outpoint_address: string | null; previous_outpoint_amount: number | null }[] | null;
  outputs: { amount: number }[];
  is_accepted: boolean;
  accepting_block_time: number | null;
}

export interface RestServerBlock {
  header: { blueWork: string; blueScore: string };
  transactions: {
    payload: string;
    outputs: { amount: number }[];
    verboseData: { transactionId: string; blockTime: number };
  }[];
  verboseData: { hash: string; transactionIds: string[] };
  extra: { color: string | null; minerAddress: string | null } | null;
}

export const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** The form of kaspa-rest-server, with an output for the whole of a mature UTXO less a fee. */
export function payment({ simulatedDag }: Harness) {
  const { consensus } = simulatedDag.node;
  for (const entry of consensus.utxos.values()) {
    const isMature = !entry.isCoinbase || entry.blockDaaScore + 20n < BigInt(consensus.virtual.daaScore);
    if (!isMature || classifyScript(entry.scriptPublicKey) !== 'pubkey' || entry.amount < 500_000_000n) continue;
    const { scriptPublicKey } = entry;
    const transaction = buildTransaction({
      version: 0,
      utxos: [{ entry, redeemScript: undefined }],
      outputs: [{ amount: Number(entry.amount) - 5_000_000, scriptPublicKey }],
      payload: new Uint8Array(0),
      sequence: 2n ** 64n - 1n,
    });
    const { inputs, outputs, ...form } = submittedForm(transaction);
    return {
      transaction,
      form: {
        version: form.version,
        inputs,
        outputs: outputs.map(({ value, scriptPublicKey: script }) => ({
          amount: Number(value),
          scriptPublicKey: { version: Number.parseInt(script.slice(0, 4), 16), scriptPublicKey: script.slice(4) },
        })),
        lockTime: 0,
        subnetworkId: form.subnetworkId,
      },
    };
  }
  throw new Error('there is no UTXO left');
}
