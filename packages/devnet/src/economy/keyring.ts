import { type AddressPrefix, type ScriptPublicKey, scriptToAddress } from '@kasgres/kaspa';
import { scriptKey } from './utxo.ts';
import type { EconomyOptions } from './options.ts';
import { Random } from './random.ts';
import { p2shOf, payToKey } from './scripts.ts';

export interface Owner {
  kind: 'miner' | 'exchange' | 'user';
  keys: Key[];
}

export interface Key {
  owner: Owner;
  scriptPublicKey: ScriptPublicKey;
  /** The preimage of a script hash. */
  redeemScript: Uint8Array | undefined;
}

export type NewScript = Pick<Key, 'scriptPublicKey' | 'redeemScript'>;
export type MakeScript = (kind: Owner['kind'], options: EconomyOptions, random: Random) => NewScript;

/** The number of addresses that are tried to find an unknown script. */
const LOOKAHEAD = 2_000;
const MAX_USER_KEYS = 6;

/**
 * The addresses of all owners. They are numbered, and the seed determines the script and the owner
 * of each number.
 */
export class Keyring {
  readonly miners: readonly Owner[];
  readonly exchanges: readonly Owner[];
  private readonly options: EconomyOptions;
  private readonly makeScript: MakeScript;
  private readonly keys: Key[] = [];
  private readonly byScript = new Map<string, Key>();
  private readonly users: Owner[] = [];

  constructor(options: EconomyOptions, makeScript: MakeScript = unsignedScript) {
    this.options = options;
    this.makeScript = makeScript;
    // Most payments go to the first numbers.
    this.exchanges = Array.from({ length: options.exchanges }, () => this.found('exchange'));
    this.miners = Array.from({ length: options.miners }, () => this.found('miner'));
  }

  find(scriptPublicKey: ScriptPublicKey): Key | undefined {
    return this.byScript.get(scriptKey(scriptPublicKey));
  }

  /** Adds an address of an exchange, of a user who has others, or of a new user. */
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

  /** Returns the address of a payee: mostly a busy one, or a new one. */
  recipient(random: Random): Key {
    const kind = random.fraction();
    if (kind < this.options.newAddressRate) return this.next();
    const number = kind < 0.8 ? random.skewed(this.keys.length) : random.below(this.keys.length);
    const key = this.keys[number];
    if (key === undefined) throw new Error(`there is no address ${number}`);
    return key;
  }

  /** Restores the addresses of these scripts and ignores unknown ones. */
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
    const key = { owner, ...this.makeScript(owner.kind, this.options, random) };
    owner.keys.push(key);
    this.keys.push(key);
    this.byScript.set(scriptKey(key.scriptPublicKey), key);
    return key;
  }
}

/** A script of the right form, without a private key: simulated nodes do not check signatures. */
function unsignedScript(
  kind: Owner['kind'],
  { ecdsaShare, scriptHashShare }: EconomyOptions,
  random: Random,
): NewScript {
  // Large owners use plain Schnorr keys.
  const form = kind === 'user' ? random.fraction() : 1;
  const publicKey = random.bytes(32);
  const toSchnorr = payToKey(publicKey);
  if (form < ecdsaShare) {
    const script = Buffer.concat([Uint8Array.of(0x21, random.pick([0x02, 0x03])), publicKey, Uint8Array.of(0xab)]);
    return { scriptPublicKey: { version: 0, script }, redeemScript: undefined };
  }
  if (form < ecdsaShare + scriptHashShare) {
    return { scriptPublicKey: p2shOf(toSchnorr.script), redeemScript: toSchnorr.script };
  }
  return { scriptPublicKey: toSchnorr, redeemScript: undefined };
}

export interface Landmark {
  address: string;
  name: string;
  link: string;
  labels: string[];
}

const EXCHANGES = ['Harbour Exchange', 'Lighthouse Trading', 'Old Mill Markets', 'Riverbank Coins'];
const POOLS = ['Granite Pool', 'Copper Pool', 'Basalt Pool', 'Slate Pool', 'Marble Pool', 'Flint Pool'];

/** Returns the named addresses, the busiest first. Owners beyond the names have none. */
export function landmarks(keyring: Keyring, prefix: AddressPrefix): Landmark[] {
  return [
    ...name(keyring.exchanges, EXCHANGES, 'exchange', prefix),
    ...name(keyring.miners, POOLS, 'mining-pool', prefix),
  ];
}

function name(owners: readonly Owner[], names: readonly string[], label: string, prefix: AddressPrefix): Landmark[] {
  return names.flatMap((name, index) => {
    const key = owners[index]?.keys[0];
    const address = key && scriptToAddress(key.scriptPublicKey, prefix);
    if (address === undefined) return [];
    const page = name.toLowerCase().replaceAll(' ', '-');
    return [{ address, name, link: `https://example.com/${page}`, labels: [label] }];
  });
}
