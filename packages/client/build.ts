/**
 * Writes dist/ with ES modules, and dist/cjs/ with CommonJS modules for programs whose TypeScript
 * or Node cannot require the former.
 */
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const FOLDER = import.meta.dirname;
const tsc = createRequire(import.meta.url).resolve('typescript/lib/tsc.js');
const compile = (...options: string[]): Buffer | null =>
  execFileSync(process.execPath, [tsc, '--project', 'tsconfig.build.json', ...options], {
    cwd: FOLDER,
    stdio: 'inherit',
  });

rmSync(join(FOLDER, 'dist'), { recursive: true, force: true });
compile();
// The first one has checked the types.
compile(
  ...'--module commonjs --moduleResolution node10 --verbatimModuleSyntax false --outDir dist/cjs --noCheck'.split(' '),
);
writeFileSync(join(FOLDER, 'dist/cjs/package.json'), '{ "type": "commonjs" }\n');
