/** No function throws on any bytes, and none takes more than in proportion to them. */
import type { ScriptPublicKey } from '@kasgres/kaspa';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import * as programs from './index.ts';
import { anyBytes, ATTACKS, push, script } from './testing/arbitraries.ts';

const P2SH: ScriptPublicKey = { version: 0, script: script(0xaa, push(new Uint8Array(32)), 0x87) };
const envelope = (bytes: Uint8Array): Uint8Array =>
  script(push(new Uint8Array(32)), 0xac, 0x00, 0x63, push('kasplex'), 0x00, push(bytes), 0x68);

function count(items: Iterable<unknown>): number {
  let found = 0;
  for (const _ of items) found++;
  return found;
}

const FUNCTIONS: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  instructions: (bytes) => count(programs.instructions(bytes)),
  pushesOf: (bytes) => count(programs.pushesOf(bytes)),
  shapeOf: programs.shapeOf,
  disassemble: (bytes) => programs.disassemble(bytes, { offset: 0, limit: 1_000 }),
  formatInstruction: (bytes) =>
    programs.disassemble(bytes, { offset: 0, limit: 1_000 }).instructions.map(programs.formatInstruction),
  changedPushes: (bytes) => programs.changedPushes(bytes, bytes.slice()),
  usesOf: programs.usesOf,
  describeProgram: programs.describeProgram,
  rangeOfPushes: (bytes) => programs.rangeOfPushes(bytes, 3, 1_000_000),
  kccTemplateHash: (bytes) => programs.kccTemplateHash(bytes, { start: 1, end: bytes.length }),
  revealedProgram: (bytes) => programs.revealedProgram(P2SH, bytes),
  bareProgram: (bytes) => programs.bareProgram({ version: 0, script: bytes }),
  readEnvelope: programs.readEnvelope,
  decodePayload: programs.decodePayload,
  decodeProgram: (bytes) => programs.decodeProgram(bytes, 0),
  'decodeProgram of an envelope': (bytes) => programs.decodeProgram(envelope(bytes), 0),
  decodeInscriptions: (bytes) =>
    programs.decodeInscriptions({ payload: bytes, programs: [bytes, undefined], sender: P2SH }),
  parseJson: programs.parseJson,
  poolOf: programs.poolOf,
  readTemplateNames: (bytes) => programs.readTemplateNames(Buffer.from(bytes.subarray(0, 2_000)).toString()),
  formatPush: (bytes) => programs.PUSH_TYPES.map((type) => programs.formatPush(bytes, type)),
};

describe.each(Object.keys(FUNCTIONS))('%s', (name) => {
  const run = FUNCTIONS[name] ?? (() => undefined);

  test('it gives a result for any bytes', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const before = bytes.slice();
        run(bytes);
        expect(Buffer.compare(bytes, before)).toBe(0);
      }),
      { numRuns: 100 },
    );
  });

  test('it is quick on hostile bytes', () => {
    for (const [attack, bytes] of Object.entries(ATTACKS)) {
      const start = performance.now();
      run(bytes);
      // A pass over 250 kB takes about 10 ms. A quadratic one would take minutes.
      expect(performance.now() - start, attack).toBeLessThan(5_000);
    }
  });
});
