/**
 * The sessions of this process at the server. One whose connection was lost without a word lives on there, with its locks and with a
 * statement that nobody waits for: the next attempt ends it before it begins.
 */
import type { ClientBase } from 'pg';

interface Session {
  pid: number;
  /** Tells it from another of the same number, after a restart or at another server. */
  backend_start: string;
}

export class Sessions {
  #earlier: Session[] = [];

  /** Ends those of the attempt before, and remembers these. */
  async succeed(clients: readonly [ClientBase, ...ClientBase[]]): Promise<void> {
    const [client] = clients;
    for (const { pid, backend_start: start } of this.#earlier) {
      await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start = $2::timestamptz',
        [pid, start],
      );
    }
    this.#earlier = [];
    for (const each of clients) {
      const { rows } = await each.query<Session>(
        'select pid, backend_start::text from pg_stat_activity where pid = pg_backend_pid()',
      );
      this.#earlier.push(...rows);
    }
  }
}
