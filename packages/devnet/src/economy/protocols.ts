/**
 * Payloads and programs of protocols above the chain, as wallets write them, and a few that no
 * decoder can read.
 */
import type { ScriptPublicKey } from '@kasgres/kaspa';
import type { Random } from './random.ts';
import { push } from './scripts.ts';

const TICKS = ['TEST', 'DEMO', 'NODES', 'GHOST', 'KITE', 'TUNNEL'];
const COLLECTIONS = ['Boats', 'Lamps', 'Stones'];
const CHANNELS = ['general', 'Trading', 'ünïcode'];
const SENTENCES = ['hello', 'good morning', 'sent from a simulated network', 'gm ☀️', 'how deep is that reorg?'];
const DOMAINS = ['harbour', 'lighthouse', 'old-mill', 'riverbank'];

const OP_FALSE = 0x00;
const OP_TRUE = 0x51;
const OP_IF = 0x63;
const OP_END_IF = 0x68;
const OP_CHECK_MULTI_SIG = 0xae;
const SCHNORR_KEY_BYTES = 32;

type Operation = Record<string, string>;

const krc20 = (random: Random, recipient: string): Operation => {
  const tick = TICKS[random.skewed(TICKS.length)] ?? '';
  const p = 'krc-20';
  const amt = String(1 + random.below(1_000_000));
  switch (random.weighted([5, 6, 1, 1])) {
    case 0:
      return { p, op: 'mint', tick, to: recipient };
    case 1:
      return { p, op: 'transfer', tick: random.chance(0.3) ? tick.toLowerCase() : tick, amt, to: recipient };
    case 2:
      return { p, op: 'deploy', tick, max: '2100000000000000', lim: '100000000000', dec: '8' };
    default:
      return { p, op: 'burn', tick, amt };
  }
};

/** Returns the payload of a protocol. @param recipient an address */
export function protocolPayload(random: Random, recipient: string): Uint8Array {
  const text = SENTENCES[random.skewed(SENTENCES.length)] ?? '';
  const alias = Buffer.from(random.bytes(6)).toString('hex');
  const sealed = Buffer.from(random.bytes(random.between(40, 160))).toString('hex');
  const channel = random.pick(CHANNELS);
  const key = `02${Buffer.from(random.bytes(32)).toString('hex')}`;
  const signature = Buffer.from(random.bytes(64)).toString('hex');
  const post = Buffer.from(text).toString('base64');
  const written: readonly [weight: number, payload: string | Uint8Array][] = [
    [6, JSON.stringify(krc20(random, recipient))],
    [4, `ciph_msg:1:comm:${alias}:${sealed}`],
    [1, `ciph_msg:1:handshake:${sealed}`],
    [1, `ciph_msg:1:payment:${sealed}`],
    [2, `ciph_msg:1:bcast:${channel}:${text}`],
    [1, `kchat:1:bcast:${channel}:${text}`],
    [3, `k:1:post:${key}:${signature}:${post}:[]`],
    [2, `k:1:vote:${key}:${signature}:${'ab'.repeat(32)}:upvote:${key}`],
    [1, `kch:${sealed}`],
    [1, `ktk:${text}`],
    [1, Buffer.concat([Buffer.from('kaspa-file:'), random.bytes(120)])],
    [1, 'kaspa-directory:{"name":"photos"}'],
    [3, Buffer.concat([Uint8Array.of(random.between(0x91, 0x97)), random.bytes(random.between(20, 180))])],
    [2, Buffer.concat([Buffer.from('kasplex'), random.bytes(random.between(20, 120))])],
    [1, JSON.stringify({ name: 'Harbour', ticker: 'HARB', decimals: 8 })],
    [1, '{"p":"krc-20","op":"mint","tick":"TEST"'],
    [1, '{"p":"krc-20","op":"mint","tick":5}'],
  ];
  const [, payload = ''] = written[random.weighted(written.map(([weight]) => weight))] ?? [];
  return typeof payload === 'string' ? Buffer.from(payload) : payload;
}

/**
 * Returns an envelope: a program of an owner's key, with the operation of a protocol in a branch
 * that is never executed.
 */
export function someEnvelope(random: Random, owner: ScriptPublicKey): Uint8Array {
  const { script } = owner;
  const [marker, operation] = envelopedOperation(random);
  // With `1 key 1 OpCheckMultiSig`, the owner is a script hash.
  const opening = random.chance(0.1)
    ? Buffer.concat([Uint8Array.of(OP_TRUE), script.subarray(0, 1 + SCHNORR_KEY_BYTES), MULTI_SIG_END])
    : script;
  const content = Buffer.from(JSON.stringify(operation));
  return envelopeOf(opening, Buffer.from(marker), random.chance(0.05) ? content.subarray(0, 15) : content);
}

const MULTI_SIG_END = Uint8Array.of(OP_TRUE, OP_CHECK_MULTI_SIG);

export function envelopeOf(opening: Uint8Array, marker: Uint8Array, content: Uint8Array): Uint8Array {
  const branch = [
    push(marker),
    Uint8Array.of(OP_TRUE),
    push(Buffer.from('{}')),
    Uint8Array.of(OP_FALSE),
    push(content),
  ];
  return Buffer.concat([opening, Uint8Array.of(OP_FALSE, OP_IF), ...branch, Uint8Array.of(OP_END_IF)]);
}

function envelopedOperation(random: Random): [marker: string, operation: Operation] {
  const tick = TICKS[random.skewed(TICKS.length)] ?? '';
  const amt = String(1 + random.below(1_000_000));
  const domain = random.pick(DOMAINS);
  const written: readonly [weight: number, marker: string, operation: Operation][] = [
    [6, 'kasplex', { p: 'krc-20', op: 'mint', tick }],
    [4, 'kasplex', { p: 'krc-20', op: 'transfer', tick, amt, to: '' }],
    [1, 'KASPLEX', { p: 'KRC-20', op: 'deploy', tick, max: '100000000', lim: '1000' }],
    [1, 'kasplex', { p: 'krc-20', op: 'list', tick, amt }],
    [2, 'kasplex', { p: 'krc-20', op: 'send', tick }],
    [2, 'kspr', { p: 'krc-721', op: 'mint', tick: random.pick(COLLECTIONS) }],
    [1, 'kspr', { p: 'krc-721', op: 'deploy', tick: random.pick(COLLECTIONS), max: '1000' }],
    [1, 'kspr', { p: 'something', op: 'else' }],
    [2, 'kns', { op: 'create', p: 'domain', v: `${domain}${random.below(20)}` }],
    [1, 'kns', { op: 'transfer', p: 'domain', id: `${'cd'.repeat(32)}i0` }],
    [1, 'others', { op: 'mint' }],
  ];
  const [, marker = '', operation = {}] = written[random.weighted(written.map(([weight]) => weight))] ?? [];
  return [marker, operation];
}
