/**
 * Everybody's addresses. They are numbered, and the seed determines the script and the owner of each number; so the ring grows as addresses
 * are handed out, and after a restart it is found again on the chain, as a wallet finds its own.
 */
import type { ScriptPublicKey } from '@kasgres/kaspa';
import { scriptKey } from './utxo.ts';
import type { SimulationOptions } from './options.ts';
import { Random } from './random.ts';

export interface Owner {
  kind: 'miner' | 'exchange' | 'user';
  /** In the order of appearing. */
  keys: readonly Key[];
}

export interface Key {
  owner: Owner;
  scriptPublicKey: ScriptPublicKey;
  /** What a UTXO paid to a script hash is spent with. */
  redeemScript: Uint8Array | undefined;
}

/** How many numbers ahead an address is looked for that the ring does not know. */
const LOOKAHEAD = 2_000;
/** Addresses of an owner, at most: then old ones are used again. */
const MAX_USER_KEYS = 6;

export class Keyring {
  readonly miners: readonly Owner[];
  readonly exchanges: readonly Owner[];
  private readonly options: SimulationOptions;
  private readonly keys: Key[] = [];
  private readonly byScript = new Map<string, Key>();
  private readonly users: Owner[] = [];

  constructor(options: SimulationOptions) {
    this.options = options;
    // The first numbers are those that most payments go to.
    this.exchanges = Array.from({ length: options.exchanges }, () => this.found('exchange'));
    this.miners = Array.from({ length: options.miners }, () => this.found('miner'));
  }

  find(scriptPublicKey: ScriptPublicKey): Key | undefined {
    return this.byScript.get(scriptKey(scriptPublicKey));
  }

  /** The next address, of an owner that its number determines: an exchange's customer, a user with others, a new user. */
  next(): Key {
    const random = this.randomOf(this.keys.length);
    const kind = random.fraction();
    if (kind < 0.2) return this.add(random.pick(this.exchanges), random);
    if (kind < 0.45 && this.users.length > 0) {
      const user = random.pick(this.users);
      if (user.keys.length < MAX_USER_KEYS) return this.add(user, random);
    }
    const user: Owner = { kind: 'user', keys: [] };
    this.users.push(user);
    return this.add(user, random);
  }

  /** An address that somebody would pay to: mostly one of the few that many pay to, or a new one. */
  recipient(random: Random): Key {
    const kind = random.fraction();
    if (kind < 0.3) return this.next();
    return this.get(kind < 0.8 ? random.skewed(this.keys.length) : random.below(this.keys.length));
  }

  /** Hands out the addresses again that these scripts need; scripts of strangers are passed over. */
  restore(scripts: Iterable<ScriptPublicKey>): void {
    const missing = new Set<string>();
    for (const script of scripts) if (this.find(script) === undefined) missing.add(scriptKey(script));
    for (let misses = 0; missing.size > 0 && misses < LOOKAHEAD; misses += 1) {
      if (missing.delete(scriptKey(this.next().scriptPublicKey))) misses = 0;
    }
  }

  private found(kind: Owner['kind']): Owner {
    const owner: Owner = { kind, keys: [] };
    this.add(owner, this.randomOf(this.keys.length));
    return owner;
  }

  private randomOf(number: number): Random {
    return new Random(this.options.seed, 'address', number);
  }

  private add(owner: Owner, random: Random): Key {
    const key = { owner, ...newScripts(owner.kind, this.options, random) };
    owner.keys = [...owner.keys, key];
    this.keys.push(key);
    this.byScript.set(scriptKey(key.scriptPublicKey), key);
    return key;
  }

  private get(number: number): Key {
    const key = this.keys[number];
    if (key === undefined) throw new Error(`there is no address ${number}`);
    return key;
  }
}

function newScripts(
  kind: Owner['kind'],
  { ecdsaShare, scriptHashShare }: SimulationOptions,
  random: Random,
): Pick<Key, 'scriptPublicKey' | 'redeemScript'> {
  // Large owners have the plain form.
  const form = kind === 'user' ? random.fraction() : 1;
  const publicKey = random.bytes(32);
  const toSchnorr = Buffer.concat([Uint8Array.of(0x20), publicKey, Uint8Array.of(0xac)]);
  if (form < ecdsaShare) {
    const script = Buffer.concat([Uint8Array.of(0x21, random.pick([0x02, 0x03])), publicKey, Uint8Array.of(0xab)]);
    return { scriptPublicKey: { version: 0, script }, redeemScript: undefined };
  }
  if (form < ecdsaShare + scriptHashShare) {
    // Not the hash that an interpreter would demand, but one of the same length.
    const script = Buffer.concat([Uint8Array.of(0xaa, 0x20), random.bytes(32), Uint8Array.of(0x87)]);
    return { scriptPublicKey: { version: 0, script }, redeemScript: toSchnorr };
  }
  return { scriptPublicKey: { version: 0, script: toSchnorr }, redeemScript: undefined };
}
