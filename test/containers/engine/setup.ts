/**
 * Vitest runs this once: it finds a Docker engine, or starts one as root on Debian, and lays out a
 * checkout as an operator has it. Without an engine the tests are skipped, with the reason.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { run, succeeds, tryToRun } from '../run.ts';
import { CACHE, DOCKER_HOST, startDaemon, stopDaemon } from './daemon.ts';
import { installPackages, installPlugins, whyNoEngineOfOwn } from './debian.ts';
import { provideImages } from './stand-ins.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const PROJECT = 'kasgres-test';

export interface Engine {
  /** Why there is none. */
  missing?: string;
  /** Whether the test has started it. */
  isOwn: boolean;
  hasStandIns: boolean;
  /** The operator's checkout. */
  folder: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    engine: Engine;
  }
}

/** @returns the teardown function */
export async function setup({ provide }: TestProject): Promise<(() => Promise<void>) | undefined> {
  const isFound = await hasEngine();
  const missing = isFound ? await findMissing() : whyNoEngineOfOwn();
  if (missing !== undefined) {
    console.log(`The containers are not tested: ${missing}`);
    provide('engine', { missing, isOwn: false, hasStandIns: false, folder: '' });
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'kasgres-operator-'));
  const teardown = async (): Promise<void> => {
    await removeComposition();
    // Images of earlier versions of a stand-in or of the image have no name.
    if (!isFound) await tryToRun('docker image prune --force');
    if (!isFound) await stopDaemon();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const hasStandIns = isFound ? false : await startOwnEngine();
    // An interrupted run has left it.
    await removeComposition();
    await copyCheckout(folder);
    Object.assign(process.env, { COMPOSE_PROJECT_NAME: PROJECT });
    provide('engine', { isOwn: !isFound, hasStandIns, folder });
  } catch (error) {
    await teardown();
    throw error;
  }
  return teardown;
}

/**
 * Also removes its image. Compose finds the rest by labels, since no file is in the root directory.
 */
async function removeComposition(): Promise<void> {
  const command = `docker compose --project-name ${PROJECT} down --volumes --remove-orphans --timeout 5`;
  await tryToRun(command, { cwd: '/' });
  await tryToRun('docker image rm kasgres kasgres-kaspad');
}

async function hasEngine(): Promise<boolean> {
  return await succeeds('docker version', { timeoutMs: 20_000 });
}

async function findMissing(): Promise<string | undefined> {
  for (const plugin of ['compose', 'buildx']) {
    if (!(await succeeds(`docker ${plugin} version`)))
      return `Docker has no ${plugin}. Install its plugin (docs/operations.md, "Containers").`;
  }
  return undefined;
}

async function startOwnEngine(): Promise<boolean> {
  mkdirSync(CACHE, { recursive: true });
  await installPackages();
  const DOCKER_CONFIG = await installPlugins();
  // Ryuk of testcontainers is an image of a registry.
  Object.assign(process.env, { DOCKER_HOST, DOCKER_CONFIG, TESTCONTAINERS_RYUK_DISABLED: 'true' });
  await startDaemon();
  return await provideImages();
}

/** Copies what git has or would add. */
async function copyCheckout(folder: string): Promise<void> {
  await run(
    `git ls-files -z --cached --others --exclude-standard \\
      | while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\\0' "$file"; done \\
      | tar --create --null --files-from - | tar --extract --directory ${folder}`,
    { cwd: ROOT },
  );
}
