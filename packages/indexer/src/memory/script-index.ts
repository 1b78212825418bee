/** From a script's name to its key. Its size is a measure of bytes, not of entries: a few long scripts fill it like many usual ones. */

/** Room for the script of any address: those have 35 bytes at most. */
const USUAL_SCRIPT_BYTES = 40;

export class ScriptIndex {
  /** In usual scripts. */
  size = 0;
  readonly #keys = new Map<string, number>();

  get(name: string): number | undefined {
    return this.#keys.get(name);
  }

  set(name: string, key: number): void {
    const before = this.#keys.size;
    this.#keys.set(name, key);
    if (this.#keys.size > before) this.size += Math.max(1, Math.ceil(name.length / USUAL_SCRIPT_BYTES));
  }
}
