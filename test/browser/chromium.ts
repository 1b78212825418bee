/**
 * Finds Chromium and launches it. Tests in a browser are skipped, and say so, where there is none.
 */
import { accessSync, constants } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

/** The browser makes no requests besides the page's, and has no sandbox, since CI runs as root. */
const CHROMIUM_FLAGS: readonly string[] = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/**
 * Returns Debian's Chromium or the one in CHROMIUM_BIN; undefined if there is none.
 * @throws if CHROMIUM_BIN names none
 */
function findChromium(): string | undefined {
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

const executablePath = findChromium();
if (executablePath === undefined) {
  console.warn('Skipped: no Chromium at /usr/bin/chromium or CHROMIUM_BIN (apt-get install chromium).');
}

export const hasChromium = executablePath !== undefined;

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: executablePath as string, args: [...CHROMIUM_FLAGS] });
