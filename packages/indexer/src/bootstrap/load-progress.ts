/** How far the load of a UTXO set is: a log line every few seconds. */
import type { Hash } from '@kasgres/kaspa';
import type { Logger } from '@kasgres/runtime';

const LINE_MS = 5_000;

export class LoadProgress {
  readonly #log: Logger;
  readonly #startedAt: number;
  readonly #startedWith: number;
  #lastLine: number;
  #firstFraction: number | undefined;

  /** @param utxos loaded before */
  constructor(log: Logger, utxos: number, now = Date.now()) {
    this.#log = log;
    this.#startedAt = now;
    this.#lastLine = now;
    this.#startedWith = utxos;
  }

  /** @param transactionId of the last UTXO: nodes hand them out in this order, and ids are spread evenly, so it tells how far this is */
  at(utxos: number, transactionId: Hash, now = Date.now()): void {
    const fraction = fractionOf(transactionId);
    this.#firstFraction ??= fraction;
    if (now - this.#lastLine < LINE_MS) return;
    this.#lastLine = now;
    const seconds = (now - this.#startedAt) / 1_000;
    const done = fraction - this.#firstFraction;
    this.#log.info(
      {
        percent: Math.floor(fraction * 100),
        utxos,
        utxosPerSecond: Math.round((utxos - this.#startedWith) / seconds),
        secondsLeft: done > 0 ? Math.ceil((seconds * (1 - fraction)) / done) : null,
      },
      'loads a UTXO set',
    );
  }
}

/** Where an id stands between the lowest and the highest that there can be. */
function fractionOf(transactionId: Hash): number {
  return Buffer.from(transactionId.buffer, transactionId.byteOffset, 4).readUInt32BE() / 2 ** 32;
}
