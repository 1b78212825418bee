import { type AddedChainBlockJson, type AddressChange, type Step } from '@kasgres/chain-steps';
import { expect, test } from 'vitest';
import { RecentSteps } from './recent-steps.ts';

/** The step from the block of this number to the next one. */
const makeStep = (number: number, content: Partial<Step> = {}): Step => ({
  from: String(number),
  to: String(number + 1),
  blueScore: 6n,
  isCaughtUp: false,
  hasBalances: false,
  removed: [],
  added: [],
  changes: undefined,
  covenants: undefined,
  ...content,
});

const changesOf = (count: number) => Array.from({ length: count }, () => ({}) as AddressChange);

/** Keeps as many of these steps as fit, and returns the number of the first one. */
function firstKept(recent: RecentSteps, steps: readonly Step[]): number {
  for (const step of steps) recent.push(step);
  return steps.findIndex(({ from }) => recent.from(from) !== undefined);
}

const stepsOf = (count: number, content?: Partial<Step>) =>
  Array.from({ length: count }, (_, number) => makeStep(number, content));

test('it keeps 300 small steps', () => {
  const recent = new RecentSteps();
  expect(firstKept(recent, stepsOf(310))).toBe(10);
  expect(recent.from('308')).toHaveLength(2);
  expect(recent.from('310')).toBeUndefined();
  expect([recent.reaches('10'), recent.reaches('11'), recent.reaches('310')]).toEqual([false, true, true]);
});

test('it keeps as many large steps as have 50,000 changes of addresses together', () => {
  const changes = { reverted: changesOf(1000), accepted: changesOf(5000), confirmed: new Map([[10, changesOf(4000)]]) };
  expect(firstKept(new RecentSteps(), stepsOf(12, { changes }))).toBe(7);
});

test('ids of accepted transactions count, too', () => {
  const added = [
    { acceptedTransactionIds: Array<string>(12_500).fill('') } as AddedChainBlockJson,
    {} as AddedChainBlockJson,
  ];
  expect(firstKept(new RecentSteps(), stepsOf(6, { added }))).toBe(2);
});

test('it keeps the latest step, however large, and makes room again after it', () => {
  const recent = new RecentSteps();
  const changes = { reverted: [], accepted: changesOf(60_000), confirmed: new Map() };
  expect(firstKept(recent, [...stepsOf(3), makeStep(3, { changes })])).toBe(3);
  expect(recent.latest?.from).toBe('3');
  recent.push(makeStep(4));
  recent.push(makeStep(5));
  expect([recent.from('3'), recent.from('4')?.length]).toEqual([undefined, 2]);
  recent.clear();
  expect([recent.latest, recent.from('5')]).toEqual([undefined, undefined]);
});
