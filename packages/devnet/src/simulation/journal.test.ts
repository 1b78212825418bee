import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { computeMass, headerHash, toHex, transactionHash } from '@kasgres/kaspa';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { smallSimulatedDag } from './testing/small-simulated-dag.ts';
import { BlockDecoder, encodeBlock, Journal } from './journal.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'journal-'));
  path = join(folder, 'journal');
});

afterEach(() => rmSync(folder, { recursive: true }));

describe('a journal', () => {
  test('returns the appended records, and appends after them', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 10 }), (records) => {
        rmSync(path, { force: true });
        for (const record of records) appendOnce(record);
        expect(recordsOf()).toEqual(records.map((record) => Buffer.from(record)));
      }),
      { numRuns: 30 },
    );
  });

  test('truncates a record that a kill left incomplete at any byte', () => {
    const records = ['first', 'second, longer', 'third'].map((text) => Buffer.from(text));
    for (const record of records) appendOnce(record);
    const whole = readFileSync(path);
    const ends = records.map((_, index) =>
      records.slice(0, index + 1).reduce((sum, { length }) => sum + 8 + length, 0),
    );
    for (let length = 0; length < whole.length; length += 1) {
      writeFileSync(path, whole.subarray(0, length));
      const complete = ends.filter((end) => end <= length).length;
      expect(recordsOf()).toEqual(records.slice(0, complete));
      appendOnce(Buffer.from('next'));
      expect(recordsOf()).toEqual([...records.slice(0, complete), Buffer.from('next')]);
    }
  });

  test('stops at a damaged record', () => {
    for (const text of ['good', 'damaged', 'behind it']) appendOnce(Buffer.from(text));
    const bytes = readFileSync(path);
    bytes.writeUInt8(bytes.readUInt8(24) ^ 1, 24);
    writeFileSync(path, bytes);
    expect(recordsOf().map(String)).toEqual(['good']);
  });

  test('ignores zeros at the end, which a full disk may leave', () => {
    appendOnce(Buffer.from('good'));
    appendFileSync(path, Buffer.from('bad'));
    truncateSync(path, 100);
    expect(
      recordsOf()
        .map(String)
        .filter((text) => text !== ''),
    ).toEqual(['good']);
  });
});

test('it restores every field of a block', () => {
  for (const body of smallSimulatedDag('codec', 120).bodies) {
    const decoded = new BlockDecoder().decode(encodeBlock(body));
    expect(toHex(headerHash(decoded.header))).toBe(toHex(body.hash));
    expect(decoded.transactions).toHaveLength(body.transactions.length);
    for (const [index, transaction] of body.transactions.entries()) {
      const back = decoded.transactions[index] ?? raise('too few transactions');
      expect([toHex(back.hash), toHex(back.transactionId)]).toEqual([
        toHex(transaction.hash),
        toHex(transaction.transactionId),
      ]);
      expect([toHex(transactionHash(back)), computeMass(back)]).toEqual([toHex(transaction.hash), back.computeMass]);
    }
    expect(decoded).toEqual(body);
  }
});

test('it rejects an incomplete block', () => {
  const [body] = smallSimulatedDag('codec', 2).bodies;
  expect(() => new BlockDecoder().decode(encodeBlock(body ?? raise('no block')).subarray(0, -1))).toThrow();
});

function appendOnce(record: Uint8Array): void {
  const { journal } = Journal.open(path);
  journal.append(record);
  journal.close();
}

function recordsOf(): Buffer[] {
  const { journal, records } = Journal.open(path);
  journal.close();
  return records;
}

function raise(message: string): never {
  throw new Error(message);
}
