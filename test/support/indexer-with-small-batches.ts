/**
 * The indexer program with batches of 40 transactions, so that tests can kill it between the
 * batches of a short chain.
 */
import { runIndexerProgram } from '../../packages/indexer/src/program.ts';

await runIndexerProgram({ batchTransactions: 40 });
