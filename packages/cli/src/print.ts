// The answer of a command, on stdout: scripts read it. What else there is to say goes to stderr.

export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
