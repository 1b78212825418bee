import { FatalError } from '@kasgres/runtime';

/** No embedded Postgres can run here, whatever is tried: an installed one is needed. */
export class EmbeddedPostgresUnavailableError extends FatalError {
  override readonly name = 'EmbeddedPostgresUnavailableError';

  constructor(reason: string, options?: ErrorOptions) {
    super(`${reason}\nSet DATABASE_URL to a Postgres 15 or newer instead.`, options);
  }
}
