import { expect, test } from 'vitest';
import { HourTotals } from './hour-totals.ts';

test('it returns rows by script and hour, also of more rows than it had room for at first', () => {
  const totals = new HourTotals();
  const [scripts, hours] = [7, 20_000];
  for (let hour = 0; hour < hours; hour += 1) {
    for (let script = scripts - 1; script >= 0; script -= 1) totals.add(script, hour, BigInt(hour - script));
  }
  const rows = [...totals.rows(scripts)];
  expect(rows).toHaveLength(scripts * hours);
  const expected = (row: number) => {
    const [script, hour] = [Math.floor(row / hours), row % hours];
    return { script_id: script, hour, change: BigInt(hour - script) };
  };
  // Comparing all at once would print all of them.
  expect(rows.filter((row, n) => !isSame(row, expected(n)))).toEqual([]);
});

test('it returns nothing if nothing was added', () => {
  expect([...new HourTotals().rows(10)]).toEqual([]);
});

function isSame(one: Row, other: Row): boolean {
  return one.script_id === other.script_id && one.hour === other.hour && one.change === other.change;
}

interface Row {
  script_id: number;
  hour: number;
  change: bigint;
}
