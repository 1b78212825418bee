// After a crash of `start` its programs need a moment to see that it is gone and to end. Until then they hold the data.

import { sleep } from '@kasgres/runtime';

const WAIT_AT_MOST_MS = 15_000;

/** Waits until none of the processes is there. Gives up after a while: an id may have been given to another program since. */
export async function waitForProcessesToEnd(
  processIds: readonly number[],
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const giveUpAt = performance.now() + WAIT_AT_MOST_MS;
  let hasSaid = false;
  while (processIds.some((id) => isThere(id)) && performance.now() < giveUpAt) {
    if (!hasSaid) say('Waiting for the programs of an earlier start to end.');
    hasSaid = true;
    await sleep(100, signal);
  }
}

function isThere(processId: number): boolean {
  try {
    process.kill(processId, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
