/**
 * The forms of kaspa-rest-server v2.3, made of those of this API. Amounts of inputs and outputs are
 * numbers there.
 */
import { type BlockJson, type TransactionJson } from '@kasgres/reads';
import { exactNumber } from '../http/exact-integers.ts';
import type { RestInputJson, RestTransactionJson } from '../resources/transactions/rest/schemas.ts';

export type Resolve = 'no' | 'light' | 'full';

type OutputJson = RestTransactionJson['outputs'][number];

export interface TransactionForm {
  inputs: boolean;
  outputs: boolean;
  resolve: Resolve;
}

/** Returns a number with all digits, which programs in other languages read. */
export const exact = (digits: string): number => exactNumber(BigInt(digits));

export function toTransaction(transaction: TimedTransaction, { inputs, outputs, resolve }: TransactionForm) {
  const { acceptingBlockBlueScore, payload } = transaction;
  return {
    subnetwork_id: transaction.subnetworkId,
    transaction_id: transaction.transactionId,
    hash: transaction.hash,
    // The compute mass, which a coinbase has not.
    mass: transaction.computeMass === '0' ? null : transaction.computeMass,
    payload: payload === undefined || payload === '' ? null : payload.slice(2),
    block_hash: transaction.blockHashes,
    block_time: transaction.blockTime,
    version: transaction.version,
    is_accepted: transaction.isAccepted,
    accepting_block_hash: transaction.acceptingBlockHash,
    accepting_block_blue_score: acceptingBlockBlueScore === null ? null : Number(acceptingBlockBlueScore),
    accepting_block_time: transaction.acceptingBlockTime,
    // A coinbase has none.
    inputs:
      !inputs || transaction.inputs.length === 0 ? null : transaction.inputs.map((input) => toInput(input, resolve)),
    outputs: outputs ? transaction.outputs.map(toOutput) : null,
  };
}

function toInput(input: TimedTransaction['inputs'][number], resolve: Resolve) {
  const { previousOutput: previous } = input;
  const isResolved = resolve !== 'no' && previous.amount !== null;
  return {
    transaction_id: input.transactionId,
    index: input.index,
    previous_outpoint_hash: previous.transactionId,
    previous_outpoint_index: String(previous.index),
    previous_outpoint_resolved:
      resolve === 'full' && isResolved
        ? {
            transaction_id: previous.transactionId,
            index: previous.index,
            amount: exact(previous.amount ?? '0'),
            script_public_key: previous.scriptPublicKey,
            script_public_key_address: previous.scriptPublicKeyAddress,
            script_public_key_type: previous.scriptPublicKeyType,
          }
        : null,
    previous_outpoint_address: isResolved ? previous.scriptPublicKeyAddress : null,
    previous_outpoint_amount: isResolved ? exact(previous.amount ?? '0') : null,
    signature_script: input.signatureScript,
    // Version 1 has budgets instead of counts.
    sig_op_count: input.computeBudget === undefined ? String(input.sigOpCount) : null,
    compute_budget: input.computeBudget ?? null,
    covenant_id: input.spentCovenantId,
  };
}

const toOutput = (output: OutputJson) => ({
  transaction_id: output.transactionId,
  index: output.index,
  amount: exact(output.amount),
  script_public_key: output.scriptPublicKey,
  script_public_key_address: output.scriptPublicKeyAddress,
  script_public_key_type: output.scriptPublicKeyType,
  covenant_id: output.covenant?.covenantId ?? null,
  covenant_authorizing_input: output.covenant?.authorizingInput ?? null,
  accepting_block_hash: null,
});

type RestServerTransaction = ReturnType<typeof toTransaction>;

/** The form within the virtual chain: absent values are left out. */
export function toChainTransaction({ transaction_id, inputs, outputs }: RestServerTransaction) {
  return {
    transaction_id,
    is_accepted: true,
    ...(inputs !== null && { inputs: inputs.map(toChainInput) }),
    outputs: (outputs ?? []).map(({ script_public_key, script_public_key_address, amount }) => ({
      script_public_key,
      ...(script_public_key_address !== null && { script_public_key_address }),
      amount,
    })),
  };
}

const toChainInput = (input: NonNullable<RestServerTransaction['inputs']>[number]) => {
  const { previous_outpoint_resolved: previous } = input;
  return {
    previous_outpoint_hash: input.previous_outpoint_hash,
    previous_outpoint_index: Number(input.previous_outpoint_index),
    signature_script: input.signature_script,
    ...(previous !== null && {
      previous_outpoint_script: previous.script_public_key,
      ...(previous.script_public_key_address !== null && {
        previous_outpoint_address: previous.script_public_key_address,
      }),
      previous_outpoint_amount: previous.amount,
    }),
  };
};

/** A block without parents has one empty level there, and transactions have all arrays. */
export function toBlock(block: BlockJson) {
  const { header, transactions, verboseData } = block;
  const { parentsByLevel, hash: _hash, ...fields } = header;
  return {
    header: {
      ...fields,
      blueWork: BigInt(header.blueWork).toString(16),
      parents:
        parentsByLevel.length === 0 ? [{ parentHashes: [] }] : parentsByLevel.map((parentHashes) => ({ parentHashes })),
    },
    transactions: (transactions ?? []).map(toContained),
    verboseData: { ...verboseData, blueScore: String(verboseData.blueScore) },
  };
}

const toContained = (transaction: TransactionJson) => ({
  ...transaction,
  inputs: transaction.inputs.map((input) => ({
    ...input,
    sequence: exact(input.sequence),
    computeBudget: input.computeBudget ?? null,
  })),
  outputs: transaction.outputs.map(({ value, scriptPublicKey, verboseData, covenant }) => ({
    amount: exact(value),
    scriptPublicKey: {
      version: Number.parseInt(scriptPublicKey.slice(0, 4), 16),
      scriptPublicKey: scriptPublicKey.slice(4),
    },
    verboseData: verboseData ?? { scriptPublicKeyType: 'nonstandard', scriptPublicKeyAddress: null },
    covenant: covenant ?? null,
  })),
  lockTime: exact(transaction.lockTime),
  gas: exact(transaction.gas),
  mass: exact(transaction.mass),
  payload: transaction.payload.replace(/^0x/, ''),
  verboseData: {
    ...transaction.verboseData,
    computeMass: Number(transaction.verboseData.computeMass),
    blockTime: Number(transaction.verboseData.blockTime),
  },
});

export type TimedTransaction = Omit<RestTransactionJson, 'inputs'> & {
  /** Unix milliseconds. */
  acceptingBlockTime: number | null;
  inputs: (RestInputJson & {
    /** The covenant of the UTXO that it spends. */
    spentCovenantId: string | null;
  })[];
};
