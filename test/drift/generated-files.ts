/** Files that a program writes and that are committed all the same, so that a change to them is seen and reviewed. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';

export interface Drift {
  /** What is generated. */
  name: string;
  /** Paths of the committed files that are not what would be generated now. */
  check: () => Promise<string[]>;
  /** Writes the files again. */
  fix: () => Promise<void>;
}

const REPOSITORY = new URL('../../', import.meta.url);

/** @param generate gives each file's text by its path in the repository */
export function generatedFiles(name: string, generate: () => Promise<Record<string, string>>): Drift {
  return {
    name,
    check: async () => {
      const files = Object.entries(await generate());
      const committed = await Promise.all(files.map(async ([path]) => await readText(path)));
      return files.filter(([, text], index) => text !== committed[index]).map(([path]) => path);
    },
    fix: async () => {
      for (const [path, text] of Object.entries(await generate())) {
        const url = new URL(path, REPOSITORY);
        await mkdir(new URL('.', url), { recursive: true });
        await writeFile(url, text);
      }
    },
  };
}

async function readText(path: string): Promise<string | undefined> {
  return await readFile(new URL(path, REPOSITORY), 'utf8').catch(() => undefined);
}
