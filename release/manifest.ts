/** The package.json of `kasgres` as it is published. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface Manifest {
  name: string;
  version: string;
  [field: string]: unknown;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

export async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/**
 * @param packages in `packages/`, whose dependencies it has
 * @param left dependencies of which the package has a copy
 * @param command the path of the program `kasgres`
 */
export async function makeManifest(
  root: string,
  { packages, left, command }: { packages: readonly string[]; left: readonly string[]; command: string },
): Promise<Manifest> {
  const { overrides, version, description, license, engines, repository, homepage, bugs, keywords } =
    await readManifest(root);
  const parts = await Promise.all(packages.map((name) => readManifest(join(root, 'packages', name))));
  const merge = (field: 'dependencies' | 'optionalDependencies'): Record<string, string> => {
    const entries = parts.flatMap((part) => Object.entries(part[field] ?? {})).sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(entries.filter(([name]) => !name.startsWith('@kasgres/') && !left.includes(name)));
  };
  return {
    name: 'kasgres',
    version,
    description,
    keywords,
    license,
    homepage,
    bugs,
    repository,
    type: 'module',
    engines: { node: (engines as { node: string }).node },
    bin: { kasgres: command },
    exports: { './package.json': './package.json' },
    files: ['packages', 'migrations', 'ops', 'release', 'CHANGELOG.md'],
    publishConfig: { access: 'public', provenance: true },
    // A direct dependency is the only override that a published package can have.
    dependencies: { ...merge('dependencies'), ...(overrides as Record<string, string>) },
    optionalDependencies: merge('optionalDependencies'),
  };
}
