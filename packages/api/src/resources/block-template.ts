/** getBlockTemplate: what to mine on, live from the node, in the form that only templates have (api-spec.md §4.5). */
import type { protocol } from '@kasgres/node';
import { parseBlueWork } from '@kasgres/kaspa';
import { z } from 'zod';
import { exactNumber } from '../exact-number.ts';
import { callerOf } from '../http/caller.ts';
import { required } from '../node-messages.ts';
import { requireNetwork } from '../schemas/address.ts';
import { headerFields } from '../schemas/block.ts';
import { answers, UNDER_KEY, WITH_BODY } from '../schemas/responses.ts';
import { computeBudget, covenant, outpoint } from '../schemas/transaction.ts';
import { addressInput, count, decimal, hexBytes, payload, sompi } from '../schemas/values.ts';
import type { ApiPlugin, Services } from '../services.ts';
import { hasComputeBudgets, toPayload } from './transactions/to-transaction.ts';

/** Nodes take at most 204 bytes of coinbase payload; how many of them are left for this text only they know. */
const MAX_EXTRA_DATA = 1000;

const body = z.strictObject({
  payAddress: addressInput.meta({ description: 'Who gets the reward' }),
  extraData: z
    .string()
    .max(MAX_EXTRA_DATA)
    .default('')
    .meta({ description: 'Text at the end of the coinbase payload' }),
});

/** Beyond 2^53 too: all digits are sent, and a client has to read them as a big integer. */
const uint64Number = z.number().meta({ description: 'An unsigned 64-bit number with all its digits' });

const templateTransaction = z
  .object({
    version: count,
    inputs: z.array(
      z.object({
        previousOutpoint: outpoint,
        sequence: uint64Number,
        sigOpCount: count,
        signatureScript: hexBytes,
        computeBudget: computeBudget.optional(),
      }),
    ),
    outputs: z.array(
      z.object({
        value: sompi,
        scriptPublicKey: z.object({ version: count, script: hexBytes }),
        covenant: covenant.optional(),
      }),
    ),
    lockTime: uint64Number,
    subnetworkId: hexBytes,
    gas: decimal,
    payload,
  })
  .meta({ id: 'BlockTemplateTransaction' });

const blockTemplate = z
  .object({
    header: z.object(headerFields).meta({ description: 'Without a hash' }),
    transactions: z.array(templateTransaction),
  })
  .meta({ id: 'BlockTemplate' });

type BlockTemplateJson = z.infer<typeof blockTemplate>;
type TemplateTransactionJson = z.infer<typeof templateTransaction>;

function toBlockTemplate(block: protocol.Block): BlockTemplateJson {
  return {
    header: toHeader(required(block.header, 'header')),
    transactions: block.transactions.map(toTemplateTransaction),
  };
}

function toHeader(header: protocol.Header): BlockTemplateJson['header'] {
  return {
    version: header.version,
    parentsByLevel: header.parents.map((level) => level.parentHashes),
    hashMerkleRoot: header.hashMerkleRoot,
    acceptedIdMerkleRoot: header.acceptedIdMerkleRoot,
    utxoCommitment: header.utxoCommitment,
    timestamp: String(header.timestamp),
    bits: header.bits,
    nonce: String(header.nonce),
    daaScore: String(header.daaScore),
    blueWork: String(parseBlueWork(header.blueWork)),
    blueScore: String(header.blueScore),
    pruningPoint: header.pruningPoint,
  };
}

function toTemplateTransaction(transaction: protocol.Transaction): TemplateTransactionJson {
  const hasBudgets = hasComputeBudgets(transaction);
  return {
    version: transaction.version,
    inputs: transaction.inputs.map((input) => toTemplateInput(input, hasBudgets)),
    outputs: transaction.outputs.map(toTemplateOutput),
    lockTime: exactNumber(transaction.lockTime),
    subnetworkId: transaction.subnetworkId,
    gas: String(transaction.gas),
    payload: toPayload(transaction.payload),
  };
}

function toTemplateInput(
  input: protocol.TransactionInput,
  hasBudget: boolean,
): TemplateTransactionJson['inputs'][number] {
  const { transactionId, index } = required(input.previousOutpoint, 'outpoint of an input');
  return {
    previousOutpoint: { transactionId, index },
    sequence: exactNumber(input.sequence),
    sigOpCount: input.sigOpCount,
    signatureScript: input.signatureScript,
    ...(hasBudget && { computeBudget: input.computeBudget }),
  };
}

function toTemplateOutput({
  amount,
  scriptPublicKey,
  covenant,
}: protocol.TransactionOutput): TemplateTransactionJson['outputs'][number] {
  const { version, scriptPublicKey: script } = required(scriptPublicKey, 'script of an output');
  return {
    value: String(amount),
    scriptPublicKey: { version, script },
    ...(covenant && { covenant: { authorizingInput: covenant.authorizingInput, covenantId: covenant.covenantId } }),
  };
}

async function getTemplate(
  { index, nodeCalls }: Services,
  caller: string,
  request: z.infer<typeof body>,
): Promise<{ block: BlockTemplateJson }> {
  requireNetwork(await index.getNetwork(), request.payAddress, 'payAddress');
  const { block } = await nodeCalls.of(caller).call('getBlockTemplate', request);
  return { block: toBlockTemplate(required(block, 'block')) };
}

export const blockTemplateRoutes: ApiPlugin = async (app, services) => {
  app.post(
    '/v1/rpc/getBlockTemplate',
    {
      config: { cost: 0.1 },
      schema: {
        operationId: 'getBlockTemplate',
        summary: 'A block to mine on',
        tags: ['Node RPC Proxy'],
        body,
        response: answers(z.object({ block: blockTemplate }), ...UNDER_KEY, ...WITH_BODY),
      },
    },
    (request) => getTemplate(services, callerOf(request), request.body),
  );
};
