/** The processor time and the memory of processes; undefined on other systems than Linux. */
import { readFile } from 'node:fs/promises';

/** The unit of `/proc/PID/stat`, the same on every usual build of Linux. */
const TICKS_PER_SECOND = 100;

/** Returns the processor time that a process has used, in seconds. */
export async function readCpuSeconds(processId: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${processId}/stat`, 'utf8').catch(() => undefined);
  // The second field, the name of the program, may contain spaces.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Returns the resident memory of a process, in bytes as the kernel counts them. */
export async function readMemory(processId: number, field: 'VmRSS' | 'VmHWM'): Promise<number | undefined> {
  const status = await readFile(`/proc/${processId}/status`, 'utf8').catch(() => '');
  const [, kibibytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
