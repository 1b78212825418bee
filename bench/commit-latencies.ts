/** Times from the node's notification of a sink to the indexer's commit of it or a later one. */
import { listenTo } from '@kasgres/database';
import { Client } from 'pg';
import { SinkLatencies } from './sink-latencies.ts';

const SELECT_SINK = `select encode(b.hash, 'hex') as sink from checkpoint c join blocks b on b.id = c.block_id`;

export class CommitLatencies {
  readonly latencies = new SinkLatencies();
  readonly #client: Client;

  private constructor(client: Client) {
    this.#client = client;
  }

  /** Listens to commits until it is stopped. */
  static async start(databaseUrl: string): Promise<CommitLatencies> {
    // Commits may follow each other faster than the sink is read.
    const client = new Client({ connectionString: databaseUrl, application_name: 'kasgres bench', pipeline: true });
    const commits = new CommitLatencies(client);
    await client.connect();
    client.on('notification', () => {
      const at = performance.now();
      void client
        .query<{ sink: string }>(SELECT_SINK)
        .then(({ rows }) => rows[0] && commits.latencies.shown(rows[0].sink, at))
        .catch(() => undefined);
    });
    await listenTo(client, 'commits');
    return commits;
  }

  async stop(): Promise<readonly number[]> {
    await this.#client.end();
    return this.latencies.times;
  }
}
