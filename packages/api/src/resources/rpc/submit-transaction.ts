/** submitTransaction: a signed transaction for the node's mempool, from which it goes to the network. */
import { toTransactionMessage } from '@kasgres/node';
import { z } from 'zod';
import { callerOf } from '../../http/caller.ts';
import { MAX_BLOCK_VALUES, parseJsonBodies } from '../../http/json-body.ts';
import type { NodeCaller } from '../../node-calls.ts';
import { answers, SUBMITS, UNDER_KEY, WITH_BODY } from '../../schemas/responses.ts';
import { flag, hash } from '../../schemas/values.ts';
import type { ApiPlugin } from '../../services.ts';
import { submittedTransaction } from './submitted/transaction.ts';

const body = z.strictObject({
  transaction: submittedTransaction,
  allowOrphan: flag.meta({
    description: 'Take it also while a UTXO that it spends is not known; only a node with `--unsaferpc` does',
  }),
});

async function submit(
  node: NodeCaller,
  { transaction, allowOrphan }: z.infer<typeof body>,
): Promise<{ transactionId: string }> {
  // The node computes the storage mass itself, whatever is sent.
  const { storageMass = 0n } = transaction;
  const { transactionId } = await node.call('submitTransaction', {
    transaction: toTransactionMessage({ ...transaction, storageMass }),
    allowOrphan,
  });
  return { transactionId };
}

export const submitTransactionRoutes: ApiPlugin = async (app, services) => {
  parseJsonBodies(app, { exactIntegers: true, maxValues: MAX_BLOCK_VALUES });
  app.post(
    '/v1/rpc/submitTransaction',
    {
      config: { cost: 0.1, submits: true },
      schema: {
        operationId: 'submitTransaction',
        summary: 'Hands a signed transaction to the node',
        description: 'A transaction that the node rejects is a 400 with its words.',
        tags: ['Node RPC Proxy'],
        body,
        response: answers(z.object({ transactionId: hash }), ...UNDER_KEY, ...WITH_BODY, ...SUBMITS),
      },
    },
    (request) => submit(services.nodeCalls.of(callerOf(request)), request.body),
  );
};
