/** Clusters a whole index at once, in steps like those of the indexer. */
import { openClusteringDatabase } from '@kasgres/indexer';
import { type ClusteringOptions, clusterStep, flagStep } from '@kasgres/state';

export type Options = Partial<ClusteringOptions> & Pick<ClusteringOptions, 'depth'>;

/** Numbers of clustered transactions, and of merges by their outcome. */
export type Clustered = Record<'transactions' | 'merges' | 'held', number>;

/** Runs steps until everything is clustered. @param transactions in a step */
export async function cluster({ url }: { url: string }, options: Options, transactions = 40): Promise<Clustered> {
  const database = openClusteringDatabase(url);
  const client = await database.pool.connect();
  const clustered = { transactions: 0, merges: 0, held: 0 };
  try {
    const all = { sizeLimit: 1_000_000n, change: false, ...options };
    for (let isBusy = true; isBusy; ) {
      const step = await clusterStep(client, all, transactions);
      const isFlagging = await flagStep(client);
      clustered.transactions += step.transactions;
      clustered.merges += step.merges;
      clustered.held += step.held;
      isBusy = step.isBusy || isFlagging;
    }
  } finally {
    client.release();
    await database.close();
  }
  return clustered;
}
