/**
 * The replay rebuilds the recorded DAG: plain accounting over it gives the recording's
 * expected.json.
 */
import { describe, expect, test } from 'vitest';
import { factsOfReplay, OracleCollector } from './oracle.ts';
import { exchanges, findExpected, readRecording, recordingDirectory } from './recording.ts';
import { ReplayNode } from './replay-node.ts';

const expected = await findExpected(recordingDirectory);
const node = new ReplayNode(await readRecording(recordingDirectory));
const collector = new OracleCollector();
do {
  if (exchanges(node.checkpoint, 'getBlockDagInfo').length > 0)
    collector.visit(node.checkpoint.name, factsOfReplay(node));
} while (node.nextCheckpoint());
const { balances, circulatingSupply, counts, txToContainingBlocks, ...exact } = collector.result();

describe.skipIf(expected === undefined)('the oracle', () => {
  test.each(Object.keys(exact) as (keyof typeof exact)[])('computes %s as in expected.json', (key) => {
    expect(exact[key]).toEqual(expected?.[key]);
  });

  test('computes the blocks of each transaction as in expected.json', () => {
    const sorted = Object.entries(expected?.txToContainingBlocks ?? {}).map(([id, blocks]) => [id, blocks.toSorted()]);
    expect(txToContainingBlocks).toEqual(Object.fromEntries(sorted));
  });

  test('computes the balances of every address that an accepted transaction names as in expected.json', () => {
    const named = Object.entries(expected?.balances ?? {}).filter(([, { txCountAtSink }]) => txCountAtSink > 0);
    const wanted = named.map(([address, { atSink, txCountAtSink }]) => [address, { atSink, txCountAtSink }]);
    expect(balances).toEqual(Object.fromEntries(wanted));
  });

  test('computes the circulating supply and the counts as in expected.json', () => {
    expect(expected).toMatchObject({ circulatingSupply, counts, network: node.network.id });
  });
});
