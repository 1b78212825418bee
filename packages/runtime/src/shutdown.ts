/**
 * What a program has opened and must close again. Parts register themselves as they start and are closed in the opposite
 * order, one after another, each failure reported and none in the way of the rest.
 */

export interface ShutdownProblem {
  name: string;
  error: unknown;
}

export class Shutdown {
  readonly #parts: { name: string; close: () => unknown }[] = [];
  #closing: string | undefined;

  /** Registers something to be closed at the end. `close` may be asynchronous. */
  add(name: string, close: () => unknown): void {
    this.#parts.push({ name, close });
  }

  /** The part being closed now: what to name when the deadline comes first. */
  get closing(): string | undefined {
    return this.#closing;
  }

  /** Closes everything, last registered first. Never rejects; returns what failed. */
  async close(): Promise<ShutdownProblem[]> {
    const problems: ShutdownProblem[] = [];
    for (let part = this.#parts.pop(); part !== undefined; part = this.#parts.pop()) {
      this.#closing = part.name;
      try {
        await part.close();
      } catch (error) {
        problems.push({ name: part.name, error });
      }
    }
    this.#closing = undefined;
    return problems;
  }
}
