import { readFile } from 'node:fs/promises';

/** The unit of `/proc/PID/stat`, the same on every usual build of Linux. */
const TICKS_PER_SECOND = 100;

/**
 * Returns the processor time that a process has used, in seconds; undefined on other systems than
 * Linux.
 */
export async function readCpuSeconds(processId: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${processId}/stat`, 'utf8').catch(() => undefined);
  // The second field, the name of the program, may contain spaces.
  const [user, system] =
    stat
      ?.slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .slice(11, 13) ?? [];
  return user === undefined ? undefined : (Number(user) + Number(system)) / TICKS_PER_SECOND;
}
