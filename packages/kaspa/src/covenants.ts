/**
 * Covenant ids (KIP-20; rusty-kaspa, consensus/core/src/hashing/covenant_id.rs and
 * crypto/txscript/src/covenants.rs). An output that is bound to a covenant either continues the
 * covenant of the UTXO that its authorising input spends, or belongs to the genesis of a covenant,
 * whose id is a hash of that outpoint and of the outputs.
 */
import { ByteWriter } from './byte-writer.ts';
import { toHex } from './format.ts';
import { hashCovenantId } from './keyed-hash.ts';
import type { Hash, Outpoint, Transaction, TransactionOutput } from './model.ts';

/**
 * The fields of an output to which the id of a covenant commits. The binding itself is left out.
 */
export type FoundingOutput = Pick<TransactionOutput, 'amount' | 'scriptPublicKey'>;

/** Why consensus rejects the bindings of a transaction. */
export type CovenantError =
  | { kind: 'authorizing-input-out-of-bounds'; output: number; authorizingInput: number }
  | { kind: 'wrong-genesis-id'; authorizingInput: number; covenantId: Hash };

const writer = new ByteWriter();

/**
 * Returns the id of the covenant that the outputs, by index in ascending order, found by spending
 * an outpoint.
 */
export function covenantId(outpoint: Outpoint, outputs: readonly (readonly [index: number, FoundingOutput])[]): Hash {
  writer.reset().bytes(outpoint.transactionId).uint32(outpoint.index).length(outputs.length);
  for (const [index, { amount, scriptPublicKey }] of outputs) {
    writer.uint32(index).uint64(amount).uint16(scriptPublicKey.version).lengthAndBytes(scriptPublicKey.script);
  }
  return hashCovenantId(writer.written());
}

interface GenesisGroup {
  authorizingInput: number;
  covenantId: Hash;
  outputs: [index: number, FoundingOutput][];
}

/**
 * Checks every binding of a transaction as a node does, and returns the first error. That version 0
 * has no bindings is another rule.
 * @param spentCovenantIds the covenant id of the UTXO that each input spends
 */
export function checkCovenants(
  { inputs, outputs }: Pick<Transaction, 'inputs' | 'outputs'>,
  spentCovenantIds: readonly (Hash | undefined)[],
): CovenantError | undefined {
  const groups = new Map<string, GenesisGroup>();
  for (const [index, output] of outputs.entries()) {
    if (output.covenant === undefined) continue;
    const { authorizingInput, covenantId: id } = output.covenant;
    if (authorizingInput >= inputs.length) {
      return { kind: 'authorizing-input-out-of-bounds', output: index, authorizingInput };
    }
    const spent = spentCovenantIds[authorizingInput];
    if (spent !== undefined && Buffer.compare(spent, id) === 0) continue;
    const key = `${authorizingInput}:${toHex(id)}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { authorizingInput, covenantId: id, outputs: [[index, output]] });
    else group.outputs.push([index, output]);
  }
  for (const { authorizingInput, covenantId: claimed, outputs: founding } of groups.values()) {
    const input = inputs[authorizingInput];
    if (input === undefined || Buffer.compare(covenantId(input.previousOutpoint, founding), claimed) !== 0) {
      return { kind: 'wrong-genesis-id', authorizingInput, covenantId: claimed };
    }
  }
  return undefined;
}
