/**
 * Programs that accepted inputs reveal: an input of other kinds, which has no rows. Only an input
 * whose last push is notable, or whose UTXO has a covenant, takes a look at the spent script, so
 * plain payments need none.
 */
import type { ScriptKey, TransactionKey } from '@kasgres/database';
import { blake2b256, type Hash } from '@kasgres/kaspa';
import { describeProgram, possibleProgram, type ProgramDescription } from '@kasgres/programs';
import type { ClientBase } from 'pg';
import type { DerivedState } from '../derived-state.ts';
import type { AcceptedTransaction, StateChanges } from '../state-changes.ts';
import { isOfProgram, type ProgramSpend, spendOf } from '../programs/program-spend.ts';
import { feeOf, MarkedSpends } from '../utxos/marked-spends.ts';
import { isNotable } from './notable.ts';
import { readReveals, readSettled, type SettledVariant } from './read.ts';
import type { Reveal } from './reveal.ts';

interface Candidate extends Omit<Reveal, 'hash' | 'covenantId'> {
  script: ScriptKey;
  isNotable: boolean;
}

export class Reveals {
  /**
   * The reveals of a batch, of programs that are notable or of a covenant, in the order of
   * acceptance; then those of `settled`.
   */
  readonly found: Reveal[] = [];
  /** The reveals of removed chain blocks, without their bytes. */
  readonly removed: ProgramSpend[] = [];
  /** Variants of transactions of earlier batches that became known. */
  settled: readonly SettledVariant[] = [];
  readonly candidates: Candidate[] = [];
  readonly #descriptions = new Map<Uint8Array, ProgramDescription>();

  add(transaction: AcceptedTransaction): void {
    const { key, chainBlock, position, content, spent, acceptedVariant } = transaction;
    if (acceptedVariant === null) return;
    for (const [input, { signatureScript }] of content.inputs.entries()) {
      const program = possibleProgram(signatureScript);
      if (program === undefined) continue;
      this.candidates.push({
        transaction: key,
        input,
        chainBlock,
        position,
        fee: feeOf(transaction),
        program,
        script: spent[input]?.script as ScriptKey,
        isNotable: isNotable(program),
      });
    }
  }

  /** Describes each program once. */
  describe({ program }: Reveal): ProgramDescription {
    let description = this.#descriptions.get(program);
    if (description === undefined) {
      description = describeProgram(program);
      this.#descriptions.set(program, description);
    }
    return description;
  }
}

export const reveals: DerivedState = {
  collect(item, changes) {
    if (item.kind === 'accepted') changes.of(Reveals).add(item.transaction);
    if (item.kind === 'settled') changes.of(Reveals).settled = item.variants;
  },

  async read(client, changes) {
    await findReveals(client, changes);
  },

  async revert(client, { accepted }, changes) {
    const { removed: spends } = changes.of(Reveals);
    for await (const page of readReveals(client, accepted)) {
      for (const reveal of page) {
        const description = describeProgram(reveal.program);
        if (isOfProgram(reveal, description)) spends.push(spendOf(reveal, description));
      }
    }
  },
};

async function findReveals(client: ClientBase, changes: StateChanges): Promise<void> {
  const { candidates, settled, found } = changes.of(Reveals);
  if (candidates.length > 0) {
    const covenants = await covenantsOfInputs(changes);
    const wanted = candidates.flatMap(({ isNotable: isWanted, ...candidate }) => {
      const covenantId = covenants.get(candidate.transaction)?.get(candidate.input);
      return isWanted || covenantId !== undefined ? [{ ...candidate, covenantId }] : [];
    });
    const hashes = await readHashes(client, new Set(wanted.map(({ script }) => script)));
    for (const { script, ...reveal } of wanted) {
      const expected = hashes.get(script);
      if (expected === undefined) continue;
      const hash = blake2b256(reveal.program);
      if (Buffer.compare(hash, expected) === 0) found.push({ ...reveal, hash });
    }
  }
  // A spread of more than 100,000 arguments would exceed the stack.
  if (settled.length > 0) for (const reveal of await readSettled(client, settled)) found.push(reveal);
}

async function covenantsOfInputs(changes: StateChanges): Promise<Map<TransactionKey, Map<number, Hash>>> {
  const covenants = new Map<TransactionKey, Map<number, Hash>>();
  for (const { spender, input, utxo } of await changes.of(MarkedSpends).find()) {
    if (utxo.covenantId === undefined) continue;
    const inputs = covenants.get(spender.key);
    if (inputs === undefined) covenants.set(spender.key, new Map([[input, utxo.covenantId]]));
    else inputs.set(input, utxo.covenantId);
  }
  return covenants;
}

/** Returns the hashes of programs to which P2SH scripts commit. */
async function readHashes(client: ClientBase, scripts: ReadonlySet<ScriptKey>): Promise<Map<ScriptKey, Hash>> {
  if (scripts.size === 0) return new Map();
  const { rows } = await client.query<{ id: number; hash: Buffer }>({
    name: 'read-program-hashes',
    text: `select id::float8 as id, substring(script from 3 for 32) as hash
             from scripts where id = any($1::bigint[]) and type = 'scripthash'`,
    values: [[...scripts]],
  });
  return new Map(rows.map(({ id, hash }) => [id, hash]));
}
