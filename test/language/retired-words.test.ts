import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readRetiredWords, retiredWordFinder } from './retired-words.ts';

const glossary = readFileSync(new URL('../../docs/glossary.md', import.meta.url), 'utf8');
const findRetired = retiredWordFinder(glossary);

test.each([
  ['a name in camel case', 'const findCoins = 1;', 'coins'],
  ['a name in upper case', 'const NEW_COIN = 1;', 'coin'],
  ['a class name', 'class UTXOCoin {}', 'coin'],
  ['a name of two words', 'const value = furtherBodies.length;', 'furtherBodies'],
  ['a file name', 'src/coin-set.ts', 'coin'],
  ['a comment', '/** Starts from scratch, or anew. */', 'anew'],
  ['a log message', "log.info({ rows }, 'the indexer goes on');", 'goes on'],
  ['an error message', 'throw new Error(`no coins of ${address}`);', 'coins'],
  ['a document', '- Whatever a reorg does.', 'whatever'],
])('the language check finds a retired word in %s', (_where, text, word) => {
  expect(findRetired(text)).toContain(word);
});

test.each([
  ['a name of the protocol', "client.call('getCoinSupply')"],
  ['a name of the protocol in a path', '/v1/rpc/get-coin-supply'],
  ['the name of a kind of transaction', 'a CoinJoin, isCoinJoin and coin_joins'],
  ['a longer word', 'coinbase, isCoinbase and bitcoin'],
])('the language check ignores %s', (_what, text) => {
  expect(findRetired(text)).toEqual([]);
});

test('the language check reads the last column of each table of the glossary', () => {
  expect(readRetiredWords('| a | `b` | `c`, `d e` |\n| --- |\nsome `f`\n')).toEqual(['c', 'd e']);
  expect(readRetiredWords(glossary).length).toBeGreaterThan(40);
});
