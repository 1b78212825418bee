import { readFile } from 'node:fs/promises';

/**
 * Returns the resident memory of a process, in bytes as the kernel counts them; undefined on other
 * systems than Linux.
 */
export async function readMemory(processId: number, field: 'VmRSS' | 'VmHWM'): Promise<number | undefined> {
  const status = await readFile(`/proc/${processId}/status`, 'utf8').catch(() => '');
  const [, kibibytes] = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status) ?? [];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
