/** Tools of npm for the tests, kept in a cache, and folders in which the tarballs are installed. */
import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { VERSION } from '@kasgres/runtime';
import { shellEnv } from '../start/started.ts';

export const ROOT = join(import.meta.dirname, '../..');
export const DIST = join(ROOT, 'dist');
export const TARBALL = join(DIST, `kasgres-${VERSION}.tgz`);
export const CLIENT_TARBALL = join(DIST, `kasgres-client-${VERSION}.tgz`);
/** Other users must reach it, but cannot enter the home of root. */
const CACHES = process.getuid?.() === 0 ? '/var/cache' : (process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'));
export const CACHE = join(CACHES, 'kasgres-test-release');

const exec = promisify(execFile);
const configured = (key: string): string => execFileSync('npm', ['config', 'get', key], { encoding: 'utf8' }).trim();

/**
 * How this machine reaches the registry. Another npm and another user would not read its settings.
 */
const REGISTRY = {
  npm_config_registry: configured('registry'),
  ...(configured('cafile') !== 'null' && { npm_config_cafile: configured('cafile') }),
  ...(process.env['NODE_EXTRA_CA_CERTS'] && { NODE_EXTRA_CA_CERTS: process.env['NODE_EXTRA_CA_CERTS'] }),
};

export interface User {
  uid: number;
  gid: number;
}

export interface RunOptions {
  cwd: string;
  env?: NodeJS.ProcessEnv;
  user?: User | undefined;
}

/**
 * Runs a command in a shell without variables of the tests.
 * @throws with `stdout` and `stderr` if it fails
 */
export async function run(
  [command, ...parameters]: readonly string[],
  { cwd, env, user }: RunOptions,
): Promise<string> {
  const options = { cwd, env: { ...shellEnv(), ...env }, maxBuffer: 2 ** 26, ...user };
  const { stdout, stderr } = await exec(command as string, parameters, options);
  return stdout + stderr;
}

/** Returns the folder `node_modules` with a package of npm, which is installed once. */
export async function findTool(name: string, version: string): Promise<string> {
  const folder = join(CACHE, `${name}@${version}`);
  if (!existsSync(join(folder, 'package-lock.json'))) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    await run(['npm', 'install', '--no-audit', '--no-fund', '--save-exact', `${name}@${version}`], { cwd: folder });
  }
  return join(folder, 'node_modules');
}

/** Returns a PATH on which `node` has this version, and `npm` and `npx` version 11. */
export async function pathWithNode(version: string): Promise<string> {
  const name =
    process.platform === 'darwin' ? `node-bin-darwin-${process.arch}` : `node-${process.platform}-${process.arch}`;
  return [join(await findTool(name, version), name, 'bin'), join(await findTool('npm', '11'), '.bin')].join(delimiter);
}

export interface Folder {
  path: string;
  env: NodeJS.ProcessEnv;
  user: User | undefined;
  /** Runs a command in the folder, as its user. */
  run: (command: readonly string[], env?: NodeJS.ProcessEnv) => Promise<string>;
  remove: () => void;
}

/**
 * Creates an empty folder that belongs to the user, in which a compiler or Python fails and is
 * recorded.
 */
export function makeFolder(name: string, path: string, user?: User): Folder {
  const parent = realpathSync(mkdtempSync(join(tmpdir(), 'kasgres-release-')));
  chmodSync(parent, 0o755);
  const [folder, home, stubs] = [join(parent, name), join(parent, 'home'), join(parent, 'stubs')] as const;
  for (const each of [folder, home, stubs]) mkdirSync(each);
  for (const tool of ['cc', 'gcc', 'g++', 'c++', 'clang', 'make', 'cmake', 'python', 'python3', 'node-gyp']) {
    writeFileSync(join(stubs, tool), `#!/bin/sh\necho "$0 $*" >>'${home}/compilers'\nexit 127\n`, { mode: 0o755 });
  }
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  if (user !== undefined) {
    for (const each of [folder, home, join(folder, 'package.json')]) chownSync(each, user.uid, user.gid);
  }
  const env = {
    ...REGISTRY,
    PATH: [path, stubs, shellEnv()['PATH']].join(delimiter),
    HOME: home,
    XDG_CACHE_HOME: join(home, '.cache'),
  };
  return {
    path: folder,
    env,
    user,
    run: (command, more) => run(command, { cwd: folder, env: { ...env, ...more }, user }),
    remove: () => rmSync(parent, { recursive: true, force: true }),
  };
}

export const compilersUsed = ({ env }: Folder): string =>
  existsSync(join(String(env['HOME']), 'compilers'))
    ? readFileSync(join(String(env['HOME']), 'compilers'), 'utf8')
    : '';
