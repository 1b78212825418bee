import { expect, test } from 'vitest';
import { type StreamSlot, StreamSlots } from './stream-slots.ts';

const key = (name: string) => ({ name, isAnonymous: false });
const anonymous = (name: string) => ({ name, isAnonymous: true });

/** Takes slots until there are no more, and returns them. */
function takeAll(slots: StreamSlots, caller: { name: string; isAnonymous: boolean }, most = 1000): StreamSlot[] {
  const taken: StreamSlot[] = [];
  try {
    while (taken.length < most) taken.push(slots.take(caller));
  } catch (error) {
    expect(error).toMatchObject({ statusCode: 503 });
  }
  return taken;
}

const kept = (taken: readonly StreamSlot[]): number => taken.filter(({ isTaken }) => !isTaken).length;

test('clients without a key leave half of the slots to keys', () => {
  const slots = new StreamSlots(100, 1000);
  expect(takeAll(slots, anonymous('one'))).toHaveLength(50);
  expect(takeAll(slots, key('wallet'), 50)).toHaveLength(50);
});

test('one caller may have all slots, and shares them with the next ones', () => {
  const slots = new StreamSlots(100, 1000);
  const first = takeAll(slots, key('one'));
  expect(first).toHaveLength(100);
  const ended: StreamSlot[] = [];
  for (const slot of first) slot.onTaken = () => ended.push(slot);
  const second = takeAll(slots, key('two'));
  expect([kept(first), kept(second)]).toEqual([50, 50]);
  // The latest ones end.
  expect(ended).toEqual(first.slice(50).reverse());
  const third = takeAll(slots, key('three'), 20);
  expect([kept(first), kept(second), kept(third)]).toEqual([40, 40, 20]);
  expect(slots.count).toBe(100);
});

test('so do clients without a key', () => {
  const slots = new StreamSlots(100, 1000);
  const [one, two] = [takeAll(slots, anonymous('one')), takeAll(slots, anonymous('two'))];
  expect([kept(one), kept(two)]).toEqual([25, 25]);
});

test('a slot that is released twice counts once', () => {
  const slots = new StreamSlots(2, 1000);
  const [first] = takeAll(slots, key('one'));
  first?.release();
  first?.release();
  expect(slots.count).toBe(1);
  expect(takeAll(slots, key('one'))).toHaveLength(1);
});

test('a caller holds at most half of the addresses and covenants, and leaves room for others', () => {
  const slots = new StreamSlots(10, 1000);
  const [one, two] = [slots.take(key('one')), slots.take(key('one'))];
  one.hold(400);
  expect(() => two.hold(101)).toThrow('too many addresses');
  two.hold(100);
  const other = slots.take(key('two'));
  other.hold(200);
  one.hold(0);
  two.release();
  other.hold(500);
});

test('clients without a key leave half of the addresses and covenants to keys', () => {
  const slots = new StreamSlots(100, 1000);
  const hold = (caller: Parameters<typeof slots.take>[0], count: number) => {
    const slot = slots.take(caller);
    slot.hold(count);
    return slot;
  };
  const [first] = [500, 200, 50].map((count, client) => {
    if (client === 0) return hold(anonymous('client 0'), count);
    expect(() => hold(anonymous(`client ${client}`), count)).toThrow('too many addresses');
    return undefined;
  });
  hold(key('wallet'), 250);
  first?.hold(400);
  hold(anonymous('client 3'), 100);
});
