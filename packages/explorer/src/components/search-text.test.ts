import { expect, test } from 'vitest';
import { explainNothing, matchShortened, protocolOf } from './search-text.ts';

const ADDRESS = `kaspasim:qz${'2'.repeat(59)}`;
const PATHS = [`/addresses/${ADDRESS}`, `/blocks/abcdef12${'0'.repeat(50)}123456`, '/blocks', '/tags/abcdef12'];

test('it finds what the page shows shortened', () => {
  for (const text of ['kaspasim:qz2222…222222', 'kaspasim:qz2222', 'qz2222', 'KASPASIM:QZ2222...2222'])
    expect([text, matchShortened(text, PATHS)]).toEqual([text, [PATHS[0]]]);
  expect(matchShortened('abcdef12…123456', PATHS)).toEqual([PATHS[1]]);
  expect(matchShortened('abcdef12…123456:3', PATHS)).toEqual([PATHS[1]]);
  const covenant = `/covenants/c0ffee00${'1'.repeat(50)}abcdef`;
  expect(matchShortened('c0ffee00…abcdef', [...PATHS, covenant, `/lanes/c0ffee00`])).toEqual([covenant]);
  for (const text of ['kaspasim:qz2222…3', 'kaspasim:', 'ab', 'abcdef12…a/b', 'tags'])
    expect([text, matchShortened(text, PATHS)]).toEqual([text, []]);
});

test('it says that an address is of another network, or is mistyped', () => {
  expect(explainNothing(`kaspa:qz${'2'.repeat(59)}`, 'simnet')).toBe(
    'This is an address of mainnet, and this explorer shows simnet.',
  );
  expect(explainNothing('https://example.com/addresses/kaspatest:qz22', 'mainnet')).toMatch(/address of a testnet/);
  expect(explainNothing(ADDRESS, 'simnet')).toMatch(/typing error/);
  for (const [text, network] of [
    ['kaspatest:qz22', 'testnet-10'],
    ['kaspa:qz22', 'mainnet'],
    ['kaspa', 'simnet'],
    ['kaspa:qz22', undefined],
  ] as const)
    expect([text, explainNothing(text, network)]).toEqual([text, undefined]);
});

test('it takes a name or the URL of its page as a protocol', () => {
  for (const text of ['krc-20', 'KRC-20', 'http://localhost:3000/protocols?interval=hour&protocol=krc-20#x'])
    expect([text, protocolOf(text)]).toEqual([text, 'krc-20']);
  for (const text of ['', 'two words', 'a'.repeat(33), 'http://localhost:3000/protocols', '/protocols?protocol=%20'])
    expect([text, protocolOf(text)]).toEqual([text, undefined]);
});
