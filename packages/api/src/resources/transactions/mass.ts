/**
 * POST /v1/transactions/mass: what a transaction weighs, and the least fee with which nodes relay
 * it.
 */
import { computeMass, normalizedMass, transientMass } from '@kasgres/kaspa';
import { badRequest, decimal, sompi } from '@kasgres/reads';
import { z } from 'zod';
import { MAX_BLOCK_VALUES } from '../../http/json-body.ts';
import { route } from '../../openapi/route.ts';
import { completeStorageMasses, SPENDS_UNKNOWN } from '../rpc/submitted/storage-masses.ts';
import { submittedTransaction } from '../rpc/submitted/transaction.ts';

/** Sompi per gram that nodes ask for at least (kaspad 2.1.0). */
const MINIMUM_FEE_RATE = 100n;

export const getTransactionMass = route(
  {
    method: 'POST',
    url: '/v1/transactions/mass',
    operationId: 'getTransactionMass',
    summary: 'Masses and minimum fee of a transaction that is not submitted yet',
    description:
      'Signature scripts count with their bytes, so give them the length that they will have. The UTXOs that are spent must be indexed, or in the mempool together with the transaction.',
    tag: 'Transaction',
    cost: 0.1,
    body: z.strictObject({ transaction: submittedTransaction }),
    bodyOptions: { exactIntegers: true, maxValues: MAX_BLOCK_VALUES },
    response: z.object({
      computeMass: decimal.meta({ description: 'Grams for validating it' }),
      storageMass: decimal.meta({ description: 'Grams for what it adds to the UTXO set (KIP-9)' }),
      transientMass: decimal.meta({ description: 'Grams for its bytes until they are pruned' }),
      mass: decimal.meta({
        description: 'The largest of the three, of which transient mass counts half: nodes measure fee rates by it',
      }),
      minimumFee: sompi.meta({ description: 'With less, nodes do not relay it' }),
    }),
  },
  async ({ services: { index }, node, caller }, { body: { transaction } }) => {
    const unweighed = [{ ...transaction, storageMass: undefined }];
    const [complete] = await completeStorageMasses(
      { index, node, toError: () => badRequest({ path: 'transaction.inputs', message: SPENDS_UNKNOWN }) },
      unweighed,
      caller,
    );
    if (complete === undefined) throw new Error('a transaction was lost');
    const [compute, storage, transient] = [computeMass(complete), complete.storageMass, transientMass(complete)];
    return {
      computeMass: String(compute),
      storageMass: String(storage),
      transientMass: String(transient),
      mass: String(normalizedMass(compute, storage, transient)),
      // Storage mass needs no fee.
      minimumFee: String(normalizedMass(compute, 0n, transient) * MINIMUM_FEE_RATE),
    };
  },
);
