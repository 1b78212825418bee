/** Errors that say whether starting again may help. */

/** Stops the program with exit code 1: whoever supervises it need not start it again. The message is for the operator. */
export class FatalError extends Error {
  override readonly name: string = 'FatalError';
}
