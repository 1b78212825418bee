/**
 * Names of mining pools. Pools put their domain between slashes into the extra data of a coinbase
 * payload, after what the node puts there ("Kaspa L1 Protocols", a public list). It is a claim of
 * the miner.
 */

const DOMAIN = /^(?:[a-z0-9-]+\.)+[a-z]{2,24}$/;
const MAX_DOMAIN_CHARACTERS = 100;
/** Software of pools that names itself without a domain. */
const OTHER_NAMES = new Set(['miningcore']);

/** Returns the domain of a pool, such as `f2pool.com`; undefined if the extra data names none. */
export function poolOf(extraData: Uint8Array): string | undefined {
  const [, ...segments] = Buffer.from(extraData).toString('latin1').split('/');
  return segments
    .slice(0, -1)
    .filter(({ length }) => length <= MAX_DOMAIN_CHARACTERS)
    .map((segment) => segment.toLowerCase())
    .find((segment) => DOMAIN.test(segment) || OTHER_NAMES.has(segment))
    ?.replace(/^www\./, '');
}
