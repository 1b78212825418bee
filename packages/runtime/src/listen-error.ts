/** Errors of listening on a TCP port, for the operator. */
import { FatalError } from './run-program.ts';

interface ListenAddress {
  host: string;
  port: number;
  /** Name of the environment variable that sets the port. That of the host begins as this one. */
  variable: `${string}PORT`;
  /** A port that is free. */
  freePort?: number | undefined;
}

/**
 * Returns a FatalError if another port or host must be configured, since a restart would fail, too.
 * Returns any other error as it is.
 */
export function toListenError(error: unknown, { host, port, variable, freePort }: ListenAddress): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    return new FatalError(
      `Port ${port} on ${host} is in use by another program. Set ${variable} to a free one${freePort === undefined ? '' : `, such as ${variable}=${freePort}`}.`,
      { cause: error },
    );
  }
  if (code === 'EACCES') {
    return new FatalError(`This user may not open port ${port}. Set ${variable} to one above 1023.`, { cause: error });
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new FatalError(
      `${host} is not an address of this machine. Set ${variable.replace('PORT', 'HOST')} to one, such as 127.0.0.1 or 0.0.0.0.`,
      { cause: error },
    );
  }
  return error;
}
