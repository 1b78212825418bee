/**
 * Finds Chromium and launches it. Tests in a browser are skipped, and say so, where there is none.
 */
import { type Browser, chromium } from 'playwright-core';
import { findProgram } from '../support/find-program.ts';

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

const executablePath = findProgram('CHROMIUM_BIN', 'chromium', 'chromium-browser');
if (executablePath === undefined) {
  console.warn('Skipped: no Chromium on the PATH or in CHROMIUM_BIN (apt-get install chromium).');
}

export const hasChromium = executablePath !== undefined;

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({ executablePath: executablePath as string, args: [...CHROMIUM_FLAGS] });
