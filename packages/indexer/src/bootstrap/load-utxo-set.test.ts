import { createLogger } from '@kasgres/runtime';
import { expect, test, vi } from 'vitest';
import { createLoadProgress } from './load-utxo-set.ts';

function idAt(fraction: number): Uint8Array {
  const id = Buffer.alloc(32);
  id.writeUInt32BE(Math.floor(fraction * 2 ** 32));
  return id;
}

test('it logs the progress and the remaining time every few seconds, from the order of ids', () => {
  const log = createLogger({ name: 'indexer', level: 'silent' });
  const info = vi.spyOn(log, 'info');
  const progress = createLoadProgress(log, 1_000, 0);
  progress(2_000, idAt(0.25), 1_000);
  expect(info).not.toHaveBeenCalled();
  progress(6_000, idAt(0.5), 10_000);
  progress(6_500, idAt(0.55), 11_000);
  expect(info.mock.calls).toEqual([
    [{ percent: 50, utxos: 6_000, utxosPerSecond: 500, secondsLeft: 20 }, 'loads a UTXO set'],
  ]);
});
