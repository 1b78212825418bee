/**
 * Transactions of applications: covenants whose programs keep state, programs without covenants,
 * lanes, messages and inscriptions. The program of an output follows from its transaction and the
 * seed, so that it is known again after a restart.
 */
import {
  type AddressPrefix,
  classifyScript,
  type ScriptPublicKey,
  scriptToAddress,
  type Transaction,
} from '@kasgres/kaspa';
import type { DagTransaction } from '../dag/dag.ts';
import { type Draft, type DraftInput, leastFee, pushesOf } from './build-transaction.ts';
import { type Contract, contractOf, CONTRACTS, firstProgram, nextProgram } from './contracts.ts';
import type { Keyring } from './keyring.ts';
import type { EconomyOptions } from './options.ts';
import type { Payment } from './payments.ts';
import { bind, type Held, isScript, type PlannedOutput, scriptOf, toDraftInput } from './planned-outputs.ts';
import { protocolPayload, someEnvelope } from './protocols.ts';
import { Random } from './random.ts';
import { lastPush } from './scripts.ts';
import { createdEntries, outpointKey, scriptKey, type UtxoEntry } from './utxo.ts';
import type { Ledger, Utxo, Wallet } from './wallet.ts';

export interface ApplicationsOptions {
  options: EconomyOptions;
  keyring: Pick<Keyring, 'find' | 'recipient' | 'exchanges' | 'miners'>;
  wallet: Pick<Wallet, 'take' | 'takeMore'>;
  ledger: Pick<Ledger, 'isSpendable'>;
  addressPrefix: AddressPrefix;
}

interface Plan {
  inputs: (Held | Utxo)[];
  outputs: PlannedOutput[];
  version: 0 | 1;
  hasPayload: boolean;
}

/** Sompi. A UTXO with a covenant takes more storage mass than another. */
const LEAST_STATE = 100_000_000;
const LEAST_PAID = 20_000_000;
const LANES: readonly string[] = ['kas1', 'igra', 'chat', '\u0001\u0002\u0003\u0004', '\0\0\0\u0007'];
const LANE_RATE = 0.2;
const SUBNETWORK_ID_BYTES = 20;
const MAX_HELD = 3_000;
const TRIES = 30;

type Step =
  | 'move'
  | 'split'
  | 'merge'
  | 'burn'
  | 'burn in version 0'
  | 'hand over'
  | 'rebirth'
  | 'birth beside'
  | 'exchange';
const STEPS: readonly (readonly [weight: number, step: Step])[] = [
  [12, 'move'],
  [4, 'split'],
  [4, 'merge'],
  [2, 'burn'],
  [1, 'burn in version 0'],
  [1, 'hand over'],
  [2, 'rebirth'],
  [1, 'birth beside'],
  [2, 'exchange'],
];

export class Applications {
  private readonly options: EconomyOptions;
  private readonly keyring: ApplicationsOptions['keyring'];
  private readonly wallet: ApplicationsOptions['wallet'];
  private readonly ledger: ApplicationsOptions['ledger'];
  private readonly addressPrefix: AddressPrefix;
  /** In no order, and with some that are spent. */
  private held: Held[] = [];

  constructor({ options, keyring, wallet, ledger, addressPrefix }: ApplicationsOptions) {
    this.options = options;
    this.keyring = keyring;
    this.wallet = wallet;
    this.ledger = ledger;
    this.addressPrefix = addressPrefix;
  }

  /** Returns `undefined` if no UTXO can be spent now. */
  make(random: Random): Payment | undefined {
    const plans = [
      () => this.birth(random),
      () => this.step(random),
      () => this.lock(random),
      () => this.reveal(random),
    ];
    const plan = plans[random.weighted([3, 9, 4, 4, 5])]?.() ?? this.message(random);
    return plan && this.carryOut(plan, random);
  }

  /** Remembers the outputs of an accepted transaction whose programs are known. */
  learn(transaction: DagTransaction, daaScore: number): void {
    if (transaction.inputs.length === 0) return;
    for (const entry of createdEntries(transaction, daaScore, false)) {
      if (this.keyring.find(entry.scriptPublicKey) !== undefined) continue;
      const program = this.findProgram(transaction, entry);
      if (program !== undefined) this.held.push({ entry, ...program });
    }
    if (this.held.length > MAX_HELD) this.held.splice(0, this.held.length - MAX_HELD);
  }

  forget(): void {
    this.held = [];
  }

  /** One or two covenants begin, each with one to three outputs. */
  private birth(random: Random): Plan | undefined {
    const first = this.takeRich(random);
    if (first === undefined) return undefined;
    const origins = random.chance(0.3) ? this.wallet.takeMore(first, 1) : [first];
    const outputs = origins.flatMap((_, authorizedBy): PlannedOutput[] => {
      const to = someContract(random);
      return Array.from({ length: random.pick([1, 1, 2, 3]) }, () => ({ to, share: 1, authorizedBy }));
    });
    // The groups of two births need not be in one piece.
    const mixed = random.chance(0.5)
      ? outputs
      : [...outputs.filter((_, at) => at % 2 === 0), ...outputs.filter((_, at) => at % 2 === 1)];
    const change = { to: this.recipient(random), share: 2 };
    return { inputs: origins, outputs: [...mixed, change], version: 1, hasPayload: random.chance(0.3) };
  }

  private step(random: Random): Plan | undefined {
    const held = this.takeHeld(random, ({ entry }) => entry.covenantId !== undefined);
    if (held === undefined) return undefined;
    const [, step = 'move'] = STEPS[random.weighted(STEPS.map(([weight]) => weight))] ?? [];
    const inputs: (Held | Utxo)[] = [held];
    const state = { to: held.contract ?? someContract(random), share: 1, authorizedBy: 0 };
    const outputs: PlannedOutput[] = [state];
    switch (step) {
      case 'move':
        break;
      case 'split':
        outputs.push(state, ...(random.chance(0.3) ? [state] : []));
        break;
      case 'merge': {
        const isSibling = ({ entry }: Held): boolean =>
          isSame(entry.covenantId, held.entry.covenantId) && entry.key !== held.entry.key;
        const sibling = this.takeHeld(random, isSibling, this.held.length);
        if (sibling !== undefined) inputs.push(sibling);
        state.authorizedBy = random.below(inputs.length);
        break;
      }
      case 'burn':
      case 'burn in version 0':
        outputs.splice(0, 1, { to: this.recipient(random), share: 1 });
        break;
      case 'hand over':
        outputs.splice(0, 1, { ...state, to: this.recipient(random) });
        break;
      case 'rebirth':
        outputs.splice(0, 1, { ...state, isBorn: true }, ...(random.chance(0.5) ? [state] : []));
        break;
      case 'birth beside': {
        const origin = this.takeRich(random);
        if (origin !== undefined) {
          inputs.push(origin);
          outputs.push({ to: someContract(random), share: 1, authorizedBy: 1 });
        }
        break;
      }
      case 'exchange': {
        const isOther = ({ entry }: Held): boolean =>
          entry.covenantId !== undefined && !isSame(entry.covenantId, held.entry.covenantId);
        const other = this.takeHeld(random, isOther);
        if (other !== undefined) {
          inputs.push(other);
          outputs.unshift({ to: other.contract ?? someContract(random), share: 1, authorizedBy: 1 });
        }
        break;
      }
      default:
        step satisfies never;
    }
    const version = step === 'burn in version 0' ? 0 : 1;
    return { inputs, outputs, version, hasPayload: random.chance(0.2) };
  }

  /** Pays to a program without a covenant, or to an envelope. */
  private lock(random: Random): Plan | undefined {
    const origin = this.takeRich(random);
    if (origin === undefined) return undefined;
    const outputs: PlannedOutput[] = [
      { to: random.chance(0.6) ? 'envelope' : someContract(random), share: 1 },
      { to: origin.key.scriptPublicKey, share: 2 },
    ];
    return { inputs: [origin], outputs, version: random.chance(0.7) ? 0 : 1, hasPayload: false };
  }

  /** Spends such a UTXO. */
  private reveal(random: Random): Plan | undefined {
    const held = this.takeHeld(random, ({ entry }) => entry.covenantId === undefined);
    if (held === undefined) return undefined;
    const before = random.chance(0.2) ? this.takeRich(random) : undefined;
    const inputs = before === undefined ? [held] : [before, held];
    return { inputs, outputs: [{ to: this.recipient(random), share: 1 }], version: 0, hasPayload: random.chance(0.05) };
  }

  private message(random: Random): Plan | undefined {
    const origin = this.wallet.take(random);
    if (origin === undefined) return undefined;
    const outputs = [{ to: random.chance(0.7) ? origin.key.scriptPublicKey : this.recipient(random), share: 1 }];
    return { inputs: [origin], outputs, version: random.chance(0.5) ? 1 : 0, hasPayload: true };
  }

  private carryOut(plan: Plan, random: Random): Payment {
    const { version } = plan;
    const isLane = version === 1 && random.chance(plan.hasPayload ? 2 * LANE_RATE : LANE_RATE / 2);
    const address = scriptToAddress(this.recipient(random), this.addressPrefix) ?? '';
    const payload = plan.hasPayload ? protocolPayload(random, address) : new Uint8Array(0);
    const utxos = plan.inputs.map((input) => toDraftInput(input, random));
    const outputs = this.outputs(plan, utxos, payload.length, random);
    const draft: Draft = { version, utxos, outputs, payload, ...(isLane && someLane(random)) };
    const isStandard = outputs.every(({ scriptPublicKey }) => classifyScript(scriptPublicKey) !== 'nonstandard');
    return { draft, isStandard };
  }

  /**
   * Returns the outputs with their amounts, programs and covenants; a single payment if there is
   * not enough for all of them.
   */
  private outputs(plan: Plan, utxos: readonly DraftInput[], payloadBytes: number, random: Random): Draft['outputs'] {
    const total = utxos.reduce((sum, { entry }) => sum + Number(entry.amount), 0);
    const pushed = utxos.flatMap(pushesOf).reduce((sum, { length }) => sum + length, 0);
    const spendable = (count: number): number =>
      total -
      leastFee({ utxos: utxos.length, outputs: count, payload: payloadBytes }) -
      200 * pushed -
      random.below(2_000);
    const planned = plan.outputs;
    const shares = planned.reduce((sum, { share }) => sum + share, 0);
    const all = spendable(planned.length);
    const amounts = planned.map(({ share }) => Math.floor((all * share) / shares));
    amounts[0] = (amounts[0] ?? 0) + all - amounts.reduce((sum, amount) => sum + amount, 0);
    const isEnough = planned.every(
      ({ to }, index) => (amounts[index] ?? 0) >= (isScript(to) ? LEAST_PAID : LEAST_STATE),
    );
    if (!isEnough) return [{ amount: spendable(1), scriptPublicKey: this.recipient(random) }];
    const [first] = utxos;
    const outputs: Draft['outputs'] = planned.map(({ to, authorizedBy = 0 }, index) => {
      const revealed = utxos[authorizedBy]?.redeemScript;
      const program = isScript(to) ? undefined : this.program(to, first?.entry, index, revealed);
      return { amount: amounts[index] ?? 0, scriptPublicKey: isScript(to) ? to : scriptOf(to, program) };
    });
    bind(planned, utxos, outputs);
    return outputs;
  }

  /**
   * Returns the program of an output.
   * @param revealed by the input that authorises the output, or the first one
   */
  private program(
    of: Contract | 'envelope',
    firstSpent: Pick<UtxoEntry, 'key'> | undefined,
    index: number,
    revealed: Uint8Array | undefined,
  ): Uint8Array {
    const random = new Random(
      this.options.seed,
      'program',
      Buffer.from(firstSpent?.key ?? '', 'latin1').toString('hex'),
      index,
    );
    if (of === 'envelope') return someEnvelope(random, this.someOwner(random));
    return revealed !== undefined && contractOf(revealed) === of
      ? nextProgram(of, revealed, random)
      : firstProgram(of, random);
  }

  private findProgram(
    transaction: Transaction,
    { scriptPublicKey, outpoint }: UtxoEntry,
  ): Omit<Held, 'entry'> | undefined {
    const { inputs, outputs } = transaction;
    const { index } = outpoint;
    const [first] = inputs;
    const authorizing = inputs[outputs[index]?.covenant?.authorizingInput ?? 0];
    if (first === undefined || authorizing === undefined) return undefined;
    const key = outpointKey(first.previousOutpoint);
    const revealed = lastPush(authorizing.signatureScript);
    const wanted = scriptKey(scriptPublicKey);
    for (const of of [...CONTRACTS, 'envelope' as const]) {
      const program = this.program(of, { key }, index, revealed);
      if (scriptKey(scriptOf(of, program)) === wanted) return { program, contract: of === 'envelope' ? undefined : of };
    }
    return undefined;
  }

  private takeHeld(random: Random, isWanted: (held: Held) => boolean, tries = TRIES): Held | undefined {
    for (let tried = 0; tried < tries && this.held.length > 0; tried += 1) {
      const at = random.below(this.held.length);
      const found = this.held[at];
      if (found === undefined) return undefined;
      const isSpendable = this.ledger.isSpendable(found.entry);
      if (isSpendable && !isWanted(found)) continue;
      const last = this.held.pop();
      if (last !== undefined && at < this.held.length) this.held[at] = last;
      if (isSpendable) return found;
    }
    return undefined;
  }

  /** Takes a UTXO that has enough for several outputs. */
  private takeRich(random: Random): Utxo | undefined {
    for (let tried = 0; tried < 4; tried += 1) {
      const utxo = this.wallet.take(random);
      if (utxo === undefined || Number(utxo.entry.amount) > 4 * LEAST_STATE) return utxo;
    }
    return undefined;
  }

  private recipient(random: Random): ScriptPublicKey {
    return this.keyring.recipient(random).scriptPublicKey;
  }

  /** Returns the script of a public key. */
  private someOwner(random: Random): ScriptPublicKey {
    const key = random.pick([...this.keyring.exchanges, ...this.keyring.miners]).keys[0];
    if (key === undefined) throw new Error('an owner without an address');
    return key.scriptPublicKey;
  }
}

function someContract(random: Random): Contract {
  const contract = CONTRACTS[random.weighted(CONTRACTS.map(({ weight }) => weight))];
  if (contract === undefined) throw new Error('no contract');
  return contract;
}

function someLane(random: Random): Pick<Draft, 'subnetworkId' | 'gas'> {
  const subnetworkId = new Uint8Array(SUBNETWORK_ID_BYTES);
  subnetworkId.set(Buffer.from(LANES[random.skewed(LANES.length)] ?? '', 'latin1'));
  return { subnetworkId, gas: BigInt(random.pick([0, 1, random.below(1_000), random.below(1_000_000)])) };
}

function isSame(one: Uint8Array | undefined, other: Uint8Array | undefined): boolean {
  return one !== undefined && other !== undefined && Buffer.compare(one, other) === 0;
}
