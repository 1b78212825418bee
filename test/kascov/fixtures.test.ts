/**
 * Compares programs of mainnet and testnet-10, opcode by opcode and hash by hash, with an
 * independent implementation in Rust.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromHex, toHex } from '@kasgres/kaspa';
import {
  describeProgram,
  type Instruction,
  instructions,
  kccTemplateHash,
  readTemplateNames,
  revealedProgram,
  shapeOf,
  TEMPLATE_NAMES_FILE,
  TemplateNameBook,
  templateOf,
} from '@kasgres/programs';
import { afterAll, describe, expect, test } from 'vitest';
import { buildReference } from './reference.ts';

const FIXTURES = 275;
const TEMPLATES = 127;

const reference = await buildReference();
if ('missing' in reference) {
  process.stdout.write(`Skipped: ${reference.missing}.\n`);
  test.skip(`the fixtures of kascov-decode: ${reference.missing}`, () => undefined);
} else {
  const { folder, files } = reference;
  const read = (file: string): Uint8Array => readFileSync(join(folder, file));
  afterAll(() => reference.remove());

  test('there are as many fixtures as published', () => {
    expect(files).toHaveLength(FIXTURES);
  });

  describe.each(files)('%s', (file) => {
    test('it has the instructions, hashes and reveal of the reference', async () => {
      const bytes = read(file);
      const facts = await reference.describe(file);
      const { malformedAt } = shapeOf(bytes);
      expect(malformedAt !== undefined).toBe(facts.isTruncated);
      // The reference lists the instruction that it cannot read, too.
      const listing = facts.isTruncated ? facts.listing.slice(0, -1) : facts.listing;
      expect([...instructions(bytes)].map(toReferenceLine)).toEqual(listing.filter((line) => line !== ''));

      expect(`aa20${toHex(describeProgram(bytes).hash)}87`).toBe(facts.script);
      const state = { start: Math.floor(bytes.length / 3), end: Math.floor(bytes.length / 2) };
      expect(toHex(kccTemplateHash(bytes, state) ?? bytes)).toBe(facts.kccTemplate);

      const spent = { version: 0, script: fromHex(facts.script) };
      const revealed = revealedProgram(spent, fromHex(facts.spend));
      expect(revealed !== undefined).toBe(facts.isRevealed);
      // The encoder of the reference writes a single byte as a number, which pushes the same and
      // which it does not read as a program.
      if (facts.isRevealed) expect(toHex(revealed ?? new Uint8Array(0))).toBe(toHex(bytes));
    });
  });

  test('signature scripts reveal the same program', async () => {
    const witnesses = files.filter((file) => file.includes('witness'));
    expect(witnesses.length).toBeGreaterThan(5);
    for (const file of witnesses) {
      const { lastPush } = shapeOf(read(file));
      const script = `aa20${toHex(describeProgram(lastPush ?? new Uint8Array(0)).hash)}87`;
      const revealed = revealedProgram({ version: 0, script: fromHex(script) }, read(file));
      expect(revealed && toHex(revealed), file).toBe(await reference.reveal(file, script));
    }
  });

  test('states of one build have one template', () => {
    const templates = new Map(files.map((file) => [file, toHex(templateOf(read(file)) ?? new Uint8Array(0))]));
    expect(new Set(templates.values()).size).toBe(TEMPLATES);
    const pairs = files
      .filter((file) => file.endsWith('_a.bin'))
      .map((file) => [file, file.replace('_a.bin', '_b.bin')] as const)
      .filter(([, other]) => templates.has(other));
    const different = pairs.filter(([file, other]) => templates.get(file) !== templates.get(other));
    expect(pairs).toHaveLength(108);
    // These are two builds: the crate names their skeletons separately.
    expect(different.map(([file]) => file)).toEqual(['fixtures/kasparocket_lp_amm_a.bin']);
  });

  test('a look-alike has the template of the contract that it imitates, and not its name', () => {
    const book = new TemplateNameBook(readTemplateNames(readFileSync(TEMPLATE_NAMES_FILE, 'utf8')).templates);
    const nameOf = (file: string): string | undefined => {
      const bytes = read(`fixtures/${file}.bin`);
      return book.find(bytes, templateOf(bytes) ?? bytes)?.name;
    };
    expect(templateOf(read('fixtures/kron_curve_v5_lookalike.bin'))).toEqual(
      templateOf(read('fixtures/kron_curve_v5.bin')),
    );
    expect(['kron_curve_v5', 'kron_curve_v5_sonar', 'kron_curve_v5_lookalike'].map(nameOf)).toEqual([
      'KRON curve',
      'KRON curve',
      undefined,
    ]);
    expect(['g0_mint_560_a', 'g0_slot_mint_565_a'].map(nameOf)).toEqual(['genesis0 mint', 'genesis0 slot-mint']);
  });
}

/** The reference has one name for short data pushes, and one for all unknown opcodes. */
function toReferenceLine({ offset, opcode, name, data }: Instruction): string {
  const common = name.replace(/^(OpData|OpUnknown)\d+$/, '$1');
  return `${offset} ${opcode} ${common} ${data === undefined || opcode === 0 ? '-' : toHex(data)}`;
}
