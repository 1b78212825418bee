/** The recording is whole, and the replay rebuilds it rightly: plain accounting over the replayed DAG gives its expected.json. */
import { describe, expect, test } from 'vitest';
import { recordingDirectory } from './directory.ts';
import { findExpected, readRecording } from './recording.ts';
import { ReplayNode } from './replay-node.ts';
import { OracleCollector } from './oracle.ts';

const expected = await findExpected(recordingDirectory);
const node = new ReplayNode(await readRecording(recordingDirectory));
const collector = new OracleCollector();
do collector.visit(node);
while (node.moveOn());
const { balances, circulatingSupply, counts, ...exact } = collector.oracle(node);

describe.skipIf(expected === undefined)('expected.json', () => {
  test.each(Object.keys(exact) as (keyof typeof exact)[])('%s', (key) => {
    expect(exact[key]).toEqual(expected?.[key]);
  });

  test('balances of every address that an accepted transaction names', () => {
    const named = Object.entries(expected?.balances ?? {}).filter(([, { txCountAtSink }]) => txCountAtSink > 0);
    const wanted = named.map(([address, { atSink, txCountAtSink }]) => [address, { atSink, txCountAtSink }]);
    expect(balances).toEqual(Object.fromEntries(wanted));
  });

  test('circulating supply and counts', () => {
    expect(expected).toMatchObject({ circulatingSupply, counts });
  });
});
