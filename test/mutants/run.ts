/**
 * Plants bugs one at a time and runs the tests that should find them: `npm run test:mutants`, or
 * `npm run test:mutants -- NAME…` for some. A bug that survives is missing a test. Works on a copy
 * of the repository, so that an interrupted run leaves nothing behind.
 */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Mutant, plant, REPOSITORY } from './mutant.ts';
import { MUTANTS } from './mutants.ts';

/**
 * Without a bug, each of these runs takes less than half of it on two cores. A hanging test counts
 * as a found bug.
 */
const TIMEOUT_MS = 420_000;

type Result = 'passed' | 'failed' | 'timed out';

const names = process.argv.slice(2);
const unknown = names.filter((name) => !MUTANTS.some((mutant) => mutant.name === name));
if (unknown.length > 0) {
  console.error(
    `There is no mutant ${unknown.join(', ')}. Those that exist:\n${MUTANTS.map(({ name }) => name).join('\n')}`,
  );
  process.exit(1);
}
const chosen = names.length === 0 ? MUTANTS : MUTANTS.filter(({ name }) => names.includes(name));
// Before anything runs: a mutant that no longer applies says nothing about the tests.
for (const mutant of chosen) plant(mutant, REPOSITORY);

const copy = copyRepository();
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));

const baseline = [...new Set(chosen.flatMap(({ tests }) => tests))];
console.log(`Without a bug: ${baseline.length} test files …`);
const healthy = await runTests(baseline, TIMEOUT_MS * 4, 'inherit');
if (healthy !== 'passed') {
  console.error(
    `The tests ${healthy} without a bug, so that they prove nothing. Run: npx vitest run ${baseline.join(' ')}`,
  );
  process.exit(1);
}

const survivors: Mutant[] = [];
for (const [index, mutant] of chosen.entries()) {
  const result = await runMutant(mutant);
  const survived = result === 'passed';
  if (survived) survivors.push(mutant);
  const outcome = survived ? (mutant.harmless === undefined ? 'SURVIVED' : 'survived, harmless') : 'found';
  console.log(`${index + 1}/${chosen.length} ${mutant.name}: ${outcome}`);
}

const unexplained = survivors.filter(({ harmless }) => harmless === undefined);
console.log(`\n${chosen.length - survivors.length} of ${chosen.length} found.`);
for (const { name, harmless } of survivors)
  console.log(`survived: ${name}${harmless === undefined ? '' : ` (${harmless})`}`);
process.exitCode = unexplained.length > 0 ? 1 : 0;

/**
 * Copies tracked and new files. Packages of the repository are linked relatively, others to the
 * original.
 */
function copyRepository(): string {
  const folder = mkdtempSync(join(tmpdir(), 'kasgres-mutants-'));
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: REPOSITORY,
    encoding: 'utf8',
  });
  for (const file of files.split('\n')) {
    if (file === '' || !existsSync(join(REPOSITORY, file))) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(REPOSITORY, file), join(folder, file));
  }
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(REPOSITORY, 'node_modules'))) {
    const original = join(REPOSITORY, 'node_modules', name);
    if (name === '@kasgres') cpSync(original, join(modules, name), { recursive: true, verbatimSymlinks: true });
    else symlinkSync(original, join(modules, name));
  }
  for (const name of readdirSync(join(folder, 'packages'))) {
    for (const untracked of ['node_modules', 'dist']) {
      const original = join(REPOSITORY, 'packages', name, untracked);
      if (existsSync(original)) symlinkSync(original, join(folder, 'packages', name, untracked));
    }
  }
  return folder;
}

async function runMutant(mutant: Mutant): Promise<Result> {
  const file = join(copy, mutant.file);
  writeFileSync(file, plant(mutant, REPOSITORY));
  try {
    return await runTests(mutant.tests, TIMEOUT_MS, 'ignore');
  } finally {
    cpSync(join(REPOSITORY, mutant.file), file);
  }
}

function runTests(tests: readonly string[], timeoutMs: number, output: 'inherit' | 'ignore'): Promise<Result> {
  const { promise, resolve } = Promise.withResolvers<Result>();
  const vitest = spawn(
    process.execPath,
    [join(copy, 'node_modules/vitest/vitest.mjs'), 'run', '--bail=1', '--silent=true', '--reporter=dot', ...tests],
    {
      cwd: copy,
      stdio: output,
      // A separate process group, so that a timeout also ends the workers and the programs that
      // they started.
      detached: true,
    },
  );
  const timer = setTimeout(() => {
    if (vitest.pid !== undefined) process.kill(-vitest.pid, 'SIGKILL');
    resolve('timed out');
  }, timeoutMs);
  vitest.once('exit', (code) => {
    clearTimeout(timer);
    resolve(code === 0 ? 'passed' : 'failed');
  });
  return promise;
}
