import { expect, test } from 'vitest';
import { type Place, Places } from './places.ts';

const key = (name: string) => ({ name, isAnonymous: false });
const anonymous = (name: string) => ({ name, isAnonymous: true });

/** Takes places until there are no more, and returns them. */
function takeAll(places: Places, caller: { name: string; isAnonymous: boolean }, most = 1000): Place[] {
  const taken: Place[] = [];
  try {
    while (taken.length < most) taken.push(places.take(caller));
  } catch (error) {
    expect(error).toMatchObject({ statusCode: 503 });
  }
  return taken;
}

const kept = (taken: readonly Place[]): number => taken.filter(({ isTaken }) => !isTaken).length;

test('clients without a key leave half of the places to keys', () => {
  const places = new Places(100, 1000);
  expect(takeAll(places, anonymous('one'))).toHaveLength(50);
  expect(takeAll(places, key('wallet'), 50)).toHaveLength(50);
});

test('one caller may have all places, and shares them with the next ones', () => {
  const places = new Places(100, 1000);
  const first = takeAll(places, key('one'));
  expect(first).toHaveLength(100);
  const ended: Place[] = [];
  for (const place of first) place.onTaken = () => ended.push(place);
  const second = takeAll(places, key('two'));
  expect([kept(first), kept(second)]).toEqual([50, 50]);
  // The latest ones end.
  expect(ended).toEqual(first.slice(50).reverse());
  const third = takeAll(places, key('three'), 20);
  expect([kept(first), kept(second), kept(third)]).toEqual([40, 40, 20]);
  expect(places.count).toBe(100);
});

test('so do clients without a key', () => {
  const places = new Places(100, 1000);
  const [one, two] = [takeAll(places, anonymous('one')), takeAll(places, anonymous('two'))];
  expect([kept(one), kept(two)]).toEqual([25, 25]);
});

test('a place that is released twice counts once', () => {
  const places = new Places(2, 1000);
  const [first] = takeAll(places, key('one'));
  first?.release();
  first?.release();
  expect(places.count).toBe(1);
  expect(takeAll(places, key('one'))).toHaveLength(1);
});

test('a caller holds at most half of the addresses and covenants, and leaves room for others', () => {
  const places = new Places(10, 1000);
  const [one, two] = [places.take(key('one')), places.take(key('one'))];
  one.hold(400);
  expect(() => two.hold(101)).toThrow('too many addresses');
  two.hold(100);
  const other = places.take(key('two'));
  other.hold(200);
  one.hold(0);
  two.release();
  other.hold(500);
});
