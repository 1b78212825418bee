/** The priority of the API on a shared processor. */
import { readFileSync, writeFileSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';

const NICE = 5;
const AUTOGROUP = '/proc/self/autogroup';

/**
 * Lets the indexer and Postgres come first, since an event for thousands of streams takes the API
 * tens of milliseconds, in which they would write the next blocks. On an idle processor it has no
 * effect.
 *
 * Linux may compare nice values only within a session, and sessions by a nice value for the whole
 * session (sched(7), "The autogroup feature"). `kasgres` starts each program in a separate session.
 * Between containers, only their shares of the processor count.
 */
export function lowerPriority(): void {
  try {
    // Only the superuser may lower a nice value.
    if (getPriority() < NICE) setPriority(NICE);
    if (leadsSession()) writeFileSync(AUTOGROUP, String(NICE));
  } catch {
    // It is a preference. Not every system has autogroups, or permits this.
  }
}

function leadsSession(): boolean {
  const stat = readFileSync('/proc/self/stat', 'latin1');
  // The name of the program, in parentheses, may contain spaces (proc(5)).
  const [, , , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(session) === process.pid;
}
