/** Debian's Chromium, or the one that CHROMIUM_BIN names. */
import { accessSync, constants } from 'node:fs';

/** As little as possible besides the page: nothing of itself over the network, no sandbox (CI runs as root). */
export const CHROMIUM_FLAGS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Undefined where there is none. @throws when CHROMIUM_BIN names none */
export function findChromium(): string | undefined {
  const wanted = process.env['CHROMIUM_BIN'];
  if (wanted !== undefined) {
    accessSync(wanted, constants.X_OK);
    return wanted;
  }
  return ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
