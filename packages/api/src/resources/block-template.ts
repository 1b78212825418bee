/** getBlockTemplate: a block to mine on, from the node, in the form that only templates have. */
import { parseBlueWork } from '@kasgres/kaspa';
import { NodeProtocolError, type protocol } from '@kasgres/node';
import {
  addressInput,
  computeBudget,
  count,
  covenant,
  decimal,
  hasComputeBudgets,
  headerFields,
  hexBytes,
  outpoint,
  payload,
  requireNetwork,
  sompi,
  toPayload,
} from '@kasgres/reads';
import { z } from 'zod';
import { exactNumber } from '../http/exact-integers.ts';
import { required, toJson } from '../node/node-calls.ts';
import { route } from '../openapi/route.ts';
import { toCovenant, toInput } from './mempool/to-mempool-entry.ts';
import { rpc } from './shared.ts';

/** Nodes accept at most 204 bytes of coinbase payload, of which a part is taken. */
const MAX_EXTRA_DATA = 1000;

/** Numbers beyond 2^53 have all their digits: clients must parse them as big integers. */
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

const templateHeader = z.object(headerFields);

const blockTemplate = z
  .object({
    header: templateHeader.meta({ description: 'Without a hash' }),
    transactions: z.array(templateTransaction),
  })
  .meta({ id: 'BlockTemplate' });

function toTemplateTransaction(transaction: protocol.Transaction): z.infer<typeof templateTransaction> {
  const hasBudgets = hasComputeBudgets(transaction);
  return {
    version: transaction.version,
    inputs: transaction.inputs.map((input) => ({
      ...toInput(input, hasBudgets),
      sequence: exactNumber(input.sequence),
    })),
    outputs: transaction.outputs.map((output) => {
      const { version, scriptPublicKey: script } = required(output.scriptPublicKey, 'script of an output');
      return { value: String(output.amount), scriptPublicKey: { version, script }, ...toCovenant(output.covenant) };
    }),
    lockTime: exactNumber(transaction.lockTime),
    subnetworkId: transaction.subnetworkId,
    gas: String(transaction.gas),
    payload: toPayload(transaction.payload),
  };
}

function blueWorkOf({ blueWork }: protocol.Header): bigint {
  try {
    return parseBlueWork(blueWork);
  } catch (cause) {
    throw new NodeProtocolError('the blue work in a block template of the node is not valid', { cause });
  }
}

export const getBlockTemplate = route(
  {
    ...rpc('POST', 'getBlockTemplate'),
    summary: 'Block template to mine on',
    body: z.strictObject({
      payAddress: addressInput.meta({ description: 'Address that receives the reward' }),
      extraData: z
        .string()
        .max(MAX_EXTRA_DATA)
        .default('')
        .meta({ description: 'Text at the end of the coinbase payload' }),
    }),
    response: z.object({ block: blockTemplate }),
  },
  async ({ services, node }, { body }) => {
    requireNetwork(await services.index.getNetwork(), body.payAddress, 'payAddress');
    const response = await node.call('getBlockTemplate', body);
    const block = required(response.block, 'block');
    const header = required(block.header, 'header');
    const parentsByLevel = header.parents.map((level) => level.parentHashes);
    return {
      block: {
        header: toJson(templateHeader, { ...header, parentsByLevel, blueWork: blueWorkOf(header) }),
        transactions: block.transactions.map(toTemplateTransaction),
      },
    };
  },
);
