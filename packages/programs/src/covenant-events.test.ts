import type { Hash } from '@kasgres/kaspa';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { covenantEvents } from './covenant-events.ts';

const id = (byte: number): Hash => new Uint8Array(32).fill(byte);
const [X, Y] = [id(1), id(2)];
const bound = (covenantId: Hash | undefined) => ({
  covenant: covenantId && { authorizingInput: 0, covenantId: covenantId.slice() },
});

test.each([
  { name: 'no covenant', spent: [undefined], outputs: [undefined], events: [] },
  { name: 'a genesis', spent: [undefined], outputs: [X, undefined, X], events: [[X, 'genesis', [], [0, 2]]] },
  { name: 'a transition', spent: [X], outputs: [X], events: [[X, 'transition', [0], [0]]] },
  { name: 'a split', spent: [undefined, X], outputs: [X, X], events: [[X, 'transition', [1], [0, 1]]] },
  { name: 'a merge', spent: [X, X], outputs: [X], events: [[X, 'transition', [0, 1], [0]]] },
  { name: 'a burn', spent: [X], outputs: [undefined], events: [[X, 'burn', [0], []]] },
  {
    name: 'a genesis by an input whose covenant ends',
    spent: [X],
    outputs: [Y],
    events: [
      [X, 'burn', [0], []],
      [Y, 'genesis', [], [0]],
    ],
  },
  {
    name: 'two covenants and a third one',
    spent: [Y, X],
    outputs: [id(3), X, Y],
    events: [
      [Y, 'transition', [0], [2]],
      [X, 'transition', [1], [1]],
      [id(3), 'genesis', [], [0]],
    ],
  },
])('$name', ({ spent, outputs, events }) => {
  expect(
    covenantEvents(spent, outputs.map(bound)).map(({ covenantId, kind, inputs, outputs }) => [
      covenantId,
      kind,
      inputs,
      outputs,
    ]),
  ).toEqual(events);
});

/** Returns where a list has an id. */
const positions = (list: readonly (Hash | undefined)[]) =>
  [...list.keys()].filter((index) => list[index] !== undefined);

test('every input and output with an id is in one event', () => {
  const ids = fc.array(fc.option(fc.integer({ min: 1, max: 4 }).map(id), { nil: undefined }), { maxLength: 12 });
  fc.assert(
    fc.property(ids, ids, (spent, outputs) => {
      const events = covenantEvents(spent, outputs.map(bound));
      expect(events.flatMap(({ inputs }) => inputs).sort((a, b) => a - b)).toEqual(positions(spent));
      expect(events.flatMap((event) => event.outputs).sort((a, b) => a - b)).toEqual(positions(outputs));
      expect(new Set(events.map(({ covenantId }) => covenantId[0])).size).toBe(events.length);
    }),
  );
});
