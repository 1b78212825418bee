/**
 * submitTransaction and submitBlock: signed transactions and mined blocks for the node, which sends
 * them to the network.
 */
import { toHeaderMessage, toTransactionMessage } from '@kasgres/node';
import { flag, hash } from '@kasgres/reads';
import { z } from 'zod';
import { MAX_BLOCK_VALUES } from '../../http/json-body.ts';
import { route } from '../../openapi/route.ts';
import { rpc } from '../shared.ts';
import { completeStorageMasses } from './submitted/storage-masses.ts';
import { submittedBlock, submittedTransaction } from './submitted/transaction.ts';

const bodyOptions = { exactIntegers: true, maxValues: MAX_BLOCK_VALUES };

export const submitTransaction = route(
  {
    ...rpc('POST', 'submitTransaction'),
    summary: 'Submit a signed transaction to the node',
    description: 'A transaction that the node rejects is a 400 with the message of the node.',
    submits: true,
    body: z.strictObject({
      transaction: submittedTransaction,
      allowOrphan: flag.meta({
        description:
          'Also accept a transaction that spends a UTXO which is not known yet; requires a node with `--unsaferpc`',
      }),
    }),
    bodyOptions,
    response: z.object({ transactionId: hash }),
  },
  async ({ node }, { body: { transaction, allowOrphan } }) => {
    // The node ignores the given storage mass and computes it.
    const { storageMass = 0n } = transaction;
    const { transactionId } = await node.call('submitTransaction', {
      transaction: toTransactionMessage({ ...transaction, storageMass }),
      allowOrphan,
    });
    return { transactionId };
  },
);

export const submitBlock = route(
  {
    ...rpc('POST', 'submitBlock'),
    summary: 'Submit a mined block to the node',
    description:
      'The block of getBlockTemplate with its nonce and timestamp set, or any block in the form of getBlock. A block that the node rejects is ' +
      'a 400 with the message of the node, or a 503 while the node is not synced.',
    countItems: ({ block }) => block.transactions.length,
    submits: true,
    body: z.strictObject({
      block: submittedBlock,
      allowNonDAABlocks: flag.meta({ description: 'Also accept a block whose DAA score is far behind' }),
    }),
    bodyOptions,
    response: z.object({
      rejectReason: z.literal('NONE').meta({ description: 'A rejected block is an error instead' }),
    }),
  },
  async ({ services, node, caller }, { body: { block, allowNonDAABlocks } }) => {
    const transactions = await completeStorageMasses({ index: services.index, node }, block.transactions, caller);
    await node.call('submitBlock', {
      block: { header: toHeaderMessage(block.header), transactions: transactions.map(toTransactionMessage) },
      allowNonDAABlocks,
    });
    return { rejectReason: 'NONE' as const };
  },
);
