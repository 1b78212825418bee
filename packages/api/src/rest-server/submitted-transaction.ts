/**
 * Transactions that clients of kaspa-rest-server submit. It knows neither gas, payload, compute
 * budgets nor covenants: here they are part of the transaction. Other fields are ignored, as there,
 * unless they look like a part of the transaction that would be lost.
 */
import { fromHex } from '@kasgres/kaspa';
import { hashInput, list } from '@kasgres/reads';
import { z } from 'zod';
import {
  hexInput,
  MAX_TRANSACTION_INPUTS,
  MAX_TRANSACTION_OUTPUTS,
  subnetworkIdInput,
  uint16Input,
  uint32Input,
  uint64InAnyForm,
  uint8Input,
} from '../resources/rpc/submitted/values.ts';
import type { SubmittedTransaction } from '../resources/rpc/submitted/transaction.ts';

const NATIVE_SUBNETWORK = fromHex('00'.repeat(20));

/** Takes absent and null for the default. */
const optional = <T>(schema: z.ZodType<T>, value: NoInfer<T>) =>
  schema.nullish().transform((given): T => given ?? value);

/** Takes digits in a text, too, as the original does and its own responses have. */
export const digitsOr = (schema: z.ZodType<number, number>) => uint64InAnyForm.transform(Number).pipe(schema);

const uint8 = digitsOr(uint8Input);
const uint16 = digitsOr(uint16Input);
const uint32 = digitsOr(uint32Input);

/** Without case and separators, so that `lock_time` and `locktime` are known as `lockTime`. */
const bare = (name: string): string => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');

/**
 * Names of the transaction beside those of the schemas: of other APIs, and of later versions of the
 * same.
 */
const MEANINGFUL = ['value', 'script', 'covenantid', 'covenantauthorizinginput', 'authorizinginput', 'covenantbinding'];
const IGNORED = new Set(['id', 'transactionid', 'hash', 'mass', 'storagemass', 'computemass', 'verbosedata', 'utxo']);

/**
 * Defines an object whose unknown fields are ignored, but for those that are a known field in
 * another spelling.
 */
function tolerant<Shape extends z.ZodRawShape>(shape: Shape) {
  const meaningful = new Set([...Object.keys(shape).map(bare), ...MEANINGFUL]);
  return z
    .looseObject({})
    .check(({ value, issues }) => {
      for (const name of Object.keys(value)) {
        if (Object.hasOwn(shape, name) || IGNORED.has(bare(name)) || !meaningful.has(bare(name))) continue;
        const spelling = Object.keys(shape).find((known) => bare(known) === bare(name));
        const message = spelling === undefined ? 'is not known here' : `must be spelled ${spelling}`;
        issues.push({ code: 'custom', path: [name], message, input: value });
      }
    })
    .pipe(z.object(shape));
}

const input = tolerant({
  previousOutpoint: tolerant({ transactionId: hashInput, index: uint32 }),
  signatureScript: hexInput,
  sequence: uint64InAnyForm,
  sigOpCount: optional(uint8, 0),
  computeBudget: optional(uint16, 0),
});

const output = tolerant({
  amount: uint64InAnyForm,
  scriptPublicKey: tolerant({ version: uint16, scriptPublicKey: hexInput }),
  covenant: tolerant({ authorizingInput: uint16, covenantId: hashInput }).nullish(),
}).transform(({ amount, scriptPublicKey: { version, scriptPublicKey: script }, covenant }) => ({
  amount,
  scriptPublicKey: { version, script },
  covenant: covenant ?? undefined,
}));

export const restServerTransaction = tolerant({
  version: uint16,
  inputs: list(input, MAX_TRANSACTION_INPUTS),
  outputs: list(output, MAX_TRANSACTION_OUTPUTS),
  lockTime: optional(uint64InAnyForm, 0n),
  subnetworkId: optional(subnetworkIdInput, NATIVE_SUBNETWORK),
  gas: optional(uint64InAnyForm, 0n),
  payload: optional(hexInput, new Uint8Array()),
}).transform((transaction): SubmittedTransaction => ({ ...transaction, storageMass: undefined }));
