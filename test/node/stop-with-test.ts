/** Child processes that must not outlive the test run, however it ends (save by SIGKILL). */
import type { ChildProcess } from 'node:child_process';

const children = new Set<ChildProcess>();

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

export function stopWithTest(child: ChildProcess): void {
  children.add(child);
  child.once('exit', () => children.delete(child));
}
