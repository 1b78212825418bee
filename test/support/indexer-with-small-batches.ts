/**
 * The indexer program with batches of 40 transactions, so that tests can kill it between the
 * batches of a short chain.
 */
import { runIndexerProgram } from '@kasgres/indexer/testing';

await runIndexerProgram({ batchTransactions: 40 });
