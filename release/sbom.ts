/**
 * The software bill of materials of `kasgres`, in CycloneDX: its dependencies by npm, and the
 * packages within the scripts for browsers.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readManifest } from './manifest.ts';

interface Component {
  name: string;
  version: string;
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
  [field: string]: unknown;
}

export interface Sbom {
  metadata: Record<string, unknown>;
  components: Component[];
  serialNumber?: string;
}

/** Written by Vite to the folder of the built explorer. */
const EXPLORER_LICENSES = 'packages/explorer/dist/licenses.json';
const SCALAR = 'node_modules/@scalar/fastify-api-reference';

/** @param folder of the package, with its lock file */
export async function makeSbom(
  root: string,
  folder: string,
  run: (command: string, parameters: string[], cwd: string) => Promise<string>,
): Promise<string> {
  const format = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only'];
  const sbom = JSON.parse(await run('npm', ['sbom', ...format], folder)) as Sbom;
  // They differ in each build, and two builds of one commit must be equal.
  delete sbom.serialNumber;
  delete sbom.metadata['timestamp'];
  const bundled = JSON.parse(await readFile(join(folder, EXPLORER_LICENSES), 'utf8')) as {
    name: string;
    version: string;
    identifier: string;
  }[];
  const { name, version, license } = await readManifest(join(root, SCALAR));
  for (const each of [...bundled, { name, version, identifier: String(license) }]) {
    sbom.components.push({
      'bom-ref': `bundled:${each.name}@${each.version}`,
      type: 'library',
      name: each.name,
      version: each.version,
      purl: `pkg:npm/${each.name.replace('@', '%40')}@${each.version}`,
      licenses: [{ license: { id: each.identifier } }],
    });
  }
  return `${JSON.stringify(sbom, undefined, 2)}\n`;
}
