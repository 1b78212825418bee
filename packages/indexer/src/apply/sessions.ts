/** The sessions of this process at the server. After a silently lost connection, a session keeps its locks until it is terminated. */
import type { ClientBase } from 'pg';

interface Session {
  pid: number;
  /** Distinguishes it from another session with the same pid, after a restart or at another server. */
  backend_start: string;
}

export class Sessions {
  #previous: Session[] = [];

  /** Terminates the sessions of the previous attempt, and stores those of these clients. */
  async succeed(clients: readonly [ClientBase, ...ClientBase[]]): Promise<void> {
    const [client] = clients;
    for (const { pid, backend_start: start } of this.#previous) {
      await client.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and backend_start = $2::timestamptz',
        [pid, start],
      );
    }
    this.#previous = [];
    for (const each of clients) {
      const { rows } = await each.query<Session>(
        'select pid, backend_start::text from pg_stat_activity where pid = pg_backend_pid()',
      );
      this.#previous.push(...rows);
    }
  }
}
