/** Made-up tokens and client addresses, and upgrades that are not served. */
import { randomBytes, randomInt } from 'node:crypto';
import { type Attack, type Attacker, countOf, onlyExpects, UNANSWERED } from './attack.ts';

const MAX_KEY_ID = 2n ** 63n;
const TOKEN_MS = 60_000;
/** The cost of a request without a key. */
const COST_RU = 0.1;
/** Bursts, and the part of a window that has begun. */
const SPARE_SECONDS = 10;

const token = (id: bigint): string =>
  `kst_${id}_${Date.now() + TOKEN_MS}_${randomBytes(32).toString('base64url').slice(0, 43)}`;

const sendToken = async (attacker: Attacker, id: bigint): Promise<number> =>
  await attacker.send(`/v1/stream?token=${token(id)}`, {});

async function sendForwarded(attacker: Attacker, forwardedFor: () => string): Promise<void> {
  await attacker.repeat(50, async () => await attacker.send('/v1/rpc/getSink', { 'x-forwarded-for': forwardedFor() }));
}

/** All requests of the attack belong to one client, so no more than its rate may be served. */
function exceedsRate(
  outcomes: Record<string, number>,
  { anonymousRateRu, seconds }: { anonymousRateRu: number; seconds: number },
): string | undefined {
  const most = ((seconds + SPARE_SECONDS) * anonymousRateRu) / COST_RU;
  const served = countOf(outcomes, 2);
  return served > most ? `${served} requests of one client were served, above its rate` : undefined;
}

const UPGRADES = ['h2c', 'websocket', 'TLS/1.0, HTTP/1.1', 'x'.repeat(1_000)];

async function requestUpgrades(attacker: Attacker): Promise<void> {
  const body = JSON.stringify({ addresses: attacker.options.addresses.slice(0, 1) });
  await attacker.repeat(40, async (index) => {
    const headers = { connection: 'Upgrade', upgrade: UPGRADES[index % UPGRADES.length] ?? '' };
    return index % 2 === 0
      ? await attacker.send('/v1/status', headers)
      : await attacker.send('/v1/rpc/getBalancesByAddresses', { ...headers, 'x-api-key': attacker.key }, body);
  });
}

export const IDENTITIES: readonly Attack[] = [
  {
    name: 'tokens of random keys',
    run: (attacker) => attacker.repeat(100, () => sendToken(attacker, randomBytes(8).readBigUInt64BE() >> 1n)),
    findFault: onlyExpects(401, 503, 'error', UNANSWERED),
  },
  {
    name: 'tokens with ids above 2^63',
    run: (attacker) => attacker.repeat(20, () => sendToken(attacker, MAX_KEY_ID + BigInt(randomInt(2 ** 40)))),
    findFault: onlyExpects(401, 503, 'error', UNANSWERED),
  },
  {
    name: 'forwarded addresses with ports',
    run: (attacker) => sendForwarded(attacker, () => `9.9.9.9:${randomInt(65_536)}`),
    findFault: exceedsRate,
  },
  {
    name: 'forwarded garbage',
    run: (attacker) => sendForwarded(attacker, () => `garbage${randomBytes(8).toString('hex')}`),
    findFault: exceedsRate,
  },
  {
    name: 'upgrades',
    keys: 1,
    run: requestUpgrades,
    findFault: ({ 101: accepted = 0, 400: refused = 0 }) =>
      accepted + refused > 0
        ? `${accepted} upgrades were accepted and ${refused} refused instead of ignored`
        : undefined,
  },
];
