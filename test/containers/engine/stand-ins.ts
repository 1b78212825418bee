/**
 * Images with the names of those that the Docker files use, for an engine of this test where no
 * registry can be reached. They have the same interfaces, and come from packages of Debian and npm.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, succeeds } from '../run.ts';
import { CACHE } from './daemon.ts';

const RECIPES = join(import.meta.dirname, 'stand-ins');
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt';
/** Leaves out what Docker's images do not have either, and writes that need not survive a crash. */
const DPKG_OPTIONS = [
  'path-exclude=/usr/share/doc/*',
  'path-exclude=/usr/share/man/*',
  'path-exclude=/usr/share/locale/*',
  'force-unsafe-io',
];
const REGISTRY_MS = 15_000;
const LABEL = 'kasgres.recipe';

interface StandIn {
  image: string;
  /** Made by Debian's bootstrap, which is the slow part; others have a Dockerfile. */
  bootstrap?: { suite: string; packages: string };
  /** Folder of `stand-ins`. */
  recipe?: string;
}

const STAND_INS: readonly StandIn[] = [
  { image: 'debian:bookworm-slim', bootstrap: { suite: 'bookworm', packages: 'ca-certificates' } },
  { image: 'kasgres-trixie-postgres', bootstrap: { suite: 'trixie', packages: 'postgresql-17' } },
  { image: 'node:24-bookworm-slim', recipe: 'node' },
  { image: 'postgres:17-bookworm', recipe: 'postgres' },
];

/**
 * Makes the stand-ins that are missing or were made otherwise. Returns false if a registry has the
 * images.
 */
export async function provideImages(): Promise<boolean> {
  if (await succeeds('docker pull -q debian:bookworm-slim', { timeoutMs: REGISTRY_MS })) return false;
  for (const standIn of STAND_INS) {
    const recipe = hashOf(standIn);
    const label = `docker image inspect --format '{{index .Config.Labels "${LABEL}"}}' ${standIn.image}`;
    if (await succeeds(`[ "$(${label})" = ${recipe} ]`)) continue;
    console.log(`makes a stand-in for ${standIn.image}`);
    if (standIn.bootstrap === undefined) await build(standIn, recipe);
    else await bootstrap(standIn.image, standIn.bootstrap, recipe);
  }
  return true;
}

function hashOf({ image, bootstrap, recipe }: StandIn): string {
  const hash = createHash('sha256').update(JSON.stringify([image, bootstrap, process.version, DPKG_OPTIONS]));
  if (recipe !== undefined) for (const file of filesOf(recipe)) hash.update(readFileSync(file));
  return hash.digest('hex').slice(0, 16);
}

function filesOf(recipe: string): string[] {
  return readdirSync(join(RECIPES, recipe))
    .sort()
    .map((file) => join(RECIPES, recipe, file));
}

async function bootstrap(
  image: string,
  { suite, packages }: { suite: string; packages: string },
  recipe: string,
): Promise<void> {
  const options = DPKG_OPTIONS.map((option) => `--dpkgopt='${option}'`).join(' ');
  const archive = `mmdebstrap --quiet --variant=minbase ${options} --include=${packages} ${suite} - http://deb.debian.org/debian`;
  await run(`${archive} | docker import --change 'LABEL ${LABEL}=${recipe}' - ${image}`);
}

async function build({ image, recipe: name = '' }: StandIn, recipe: string): Promise<void> {
  const context = join(CACHE, 'context', name);
  mkdirSync(context, { recursive: true });
  for (const file of filesOf(name)) copyFileSync(file, join(context, file.split('/').at(-1) ?? ''));
  if (name === 'node') {
    copyFileSync(process.execPath, join(context, 'node'));
    copyFileSync(CERTIFICATES, join(context, 'ca-certificates.crt'));
    await run('npm install --prefix . --no-save --no-audit --no-fund npm@11', { cwd: context });
  }
  await run(`docker buildx build --quiet --label ${LABEL}=${recipe} --tag ${image} .`, { cwd: context });
}
