/**
 * The naive model of covenants, programs, lanes and inscriptions: it reads accepted transactions in
 * order and keeps everything in maps. Of the project's code it uses only pure functions, for hashes
 * and for decoding.
 */
import type { AcceptedTransaction } from '@kasgres/devnet';
import {
  type Hash,
  isCoinbase,
  laneNamespace,
  type Outpoint,
  type ScriptPublicKey,
  toHex,
  type Utxo,
} from '@kasgres/kaspa';
import {
  bareProgram,
  decodeInscriptions,
  describeProgram,
  type ProgramDescription,
  revealedProgram,
} from '@kasgres/programs';

const HOUR_MS = 3_600_000n;

/** Values in a form to compare, by name. */
export type Section = Map<string, string>;
export type ApplicationState = Record<(typeof SECTION_NAMES)[number], Section>;

export const SECTION_NAMES = [
  'covenants',
  'covenant events',
  'covenant UTXOs',
  'covenant hours',
  'programs',
  'templates',
  'hours of families',
  'lanes',
  'lane hours',
  'inscriptions',
  'protocol hours',
] as const;

interface ModelUtxo {
  amount: bigint;
  scriptPublicKey: ScriptPublicKey;
  covenantId: string | undefined;
}

interface Covenant {
  genesis: string | undefined;
  isComplete: boolean;
  events: number;
  firstSeen: bigint;
  lastSeen: bigint;
  template: string | undefined;
}

interface Program extends Pick<ProgramDescription, 'length' | 'uses'> {
  template: string | undefined;
  transaction: string;
  index: number;
  isBare: boolean;
  firstSeen: bigint;
  spends: number;
}

interface Lane {
  transactions: number;
  gas: bigint;
  fees: bigint;
  firstSeen: bigint;
  lastSeen: bigint;
}

export interface Accepting {
  chainIndex: number;
  /** Unix milliseconds. */
  chainTime: bigint;
}

export interface ModelOptions {
  /**
   * Hex ids of transactions of which the index does not know the accepted variant, so that it knows
   * no program that they reveal.
   */
  hasUnknownVariant: (id: string) => boolean;
}

const total = (of: readonly { amount: bigint }[]): bigint => of.reduce((sum, { amount }) => sum + amount, 0n);

export class ApplicationsModel {
  readonly #hasUnknownVariant: ModelOptions['hasUnknownVariant'];
  readonly #utxos = new Map<string, ModelUtxo>();
  readonly #covenants = new Map<string, Covenant>();
  readonly #events = new Map<string, { event: string; chainIndex: number }>();
  readonly #covenantHours = new Map<string, number>();
  readonly #programs = new Map<string, Program>();
  /** Spends and fees. */
  readonly #familyHours = new Map<string, [number, bigint]>();
  readonly #lanes = new Map<string, Lane>();
  readonly #laneHours = new Map<string, Pick<Lane, 'transactions' | 'gas' | 'fees'>>();
  readonly #inscriptions = new Map<string, { inscription: string; chainIndex: number }>();
  readonly #protocolHours = new Map<string, [number, bigint]>();

  constructor({ hasUnknownVariant }: ModelOptions) {
    this.#hasUnknownVariant = hasUnknownVariant;
  }

  /**
   * Replaces the UTXOs by those at a start of the index. What happened to their covenants right
   * before it is not known.
   */
  start(utxos: readonly Utxo[], { chainTime }: Pick<Accepting, 'chainTime'>): void {
    const before = this.#byCovenant();
    this.#utxos.clear();
    for (const { outpoint, amount, scriptPublicKey, covenantId } of utxos) {
      this.#utxos.set(nameOf(outpoint), { amount, scriptPublicKey, covenantId: covenantId && toHex(covenantId) });
    }
    const byOutpoint = utxos
      .map(({ outpoint, ...utxo }) => ({ ...utxo, id: toHex(outpoint.transactionId), index: outpoint.index }))
      .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : a.index - b.index));
    for (const { id, index, scriptPublicKey } of byOutpoint) {
      const program = bareProgram(scriptPublicKey);
      if (program === undefined) continue;
      this.#see(describeProgram(program), { transaction: id, index, isBare: true, firstSeen: chainTime });
    }
    for (const id of new Set([...before.keys(), ...this.#byCovenant().keys()])) {
      const fresh = { genesis: undefined, events: 0, firstSeen: chainTime, lastSeen: chainTime, template: undefined };
      this.#covenants.set(id, { ...(this.#covenants.get(id) ?? fresh), isComplete: false });
    }
  }

  /** Reads what a chain block accepts. */
  accept(accepted: readonly AcceptedTransaction[], accepting: Accepting): void {
    for (const [position, { transaction }] of accepted.entries()) this.#acceptOne(transaction, position, accepting);
  }

  #acceptOne(transaction: AcceptedTransaction['transaction'], position: number, accepting: Accepting): void {
    const id = toHex(transaction.transactionId);
    const { chainTime } = accepting;
    const hour = chainTime / HOUR_MS;
    const spent = transaction.inputs.map(({ previousOutpoint }) => this.#spend(previousOutpoint));
    for (const [index, { amount, scriptPublicKey, covenant }] of transaction.outputs.entries()) {
      const covenantId = covenant && toHex(covenant.covenantId);
      this.#utxos.set(`${id}:${index}`, { amount, scriptPublicKey, covenantId });
    }
    const fee = isCoinbase(transaction) ? 0n : total(spent) - total(transaction.outputs);

    const programs = spent.map(({ scriptPublicKey }, input) => {
      const { signatureScript } = transaction.inputs[input] ?? { signatureScript: new Uint8Array(0) };
      return this.#hasUnknownVariant(id) ? undefined : revealedProgram(scriptPublicKey, signatureScript);
    });
    const lastTemplates = new Map<string, string>();
    const families = new Map<number, number>();
    for (const [index, { scriptPublicKey, covenantId }] of spent.entries()) {
      const revealed = programs[index];
      const bare = bareProgram(scriptPublicKey);
      const program = revealed ?? bare;
      if (program === undefined) continue;
      const description = describeProgram(program);
      if (covenantId === undefined && description.uses === 0) continue;
      if (revealed !== undefined) {
        this.#see(description, { transaction: id, index, isBare: false, firstSeen: chainTime });
        if (covenantId !== undefined && description.template !== undefined) {
          lastTemplates.set(covenantId, toHex(description.template));
        }
      }
      const known = this.#programs.get(toHex(description.hash));
      if (known === undefined) throw new Error(`transaction ${id} spends a program that is not known`);
      known.spends += 1;
      for (let bit = 1; bit <= description.uses; bit *= 2) {
        if ((description.uses & bit) !== 0) families.set(bit, (families.get(bit) ?? 0) + 1);
      }
    }
    for (const [bit, spends] of families) addTo(this.#familyHours, `${hour} ${bit}`, spends, fee);
    for (const [index, { scriptPublicKey }] of transaction.outputs.entries()) {
      const program = bareProgram(scriptPublicKey);
      if (program === undefined) continue;
      this.#see(describeProgram(program), { transaction: id, index, isBare: true, firstSeen: chainTime });
    }

    this.#acceptCovenants(id, spent, transaction.outputs, lastTemplates, position, accepting);
    this.#acceptLane(transaction, fee, chainTime);
    const sender = spent[0]?.scriptPublicKey;
    const found = isCoinbase(transaction) ? [] : decodeInscriptions({ payload: transaction.payload, programs, sender });
    for (const { protocol, isDecodable, operation = '', tick = '', source, owner } of found) {
      const place = source === 'payload' ? source : `input ${source.input}`;
      const values = [protocol, isDecodable ? operation : 'undecodable', tick, owner && toHex(owner.script)];
      this.#inscriptions.set(`${id} ${place}`, {
        inscription: JSON.stringify(values),
        chainIndex: accepting.chainIndex,
      });
    }
    for (const protocol of new Set(found.map((inscription) => inscription.protocol))) {
      addTo(this.#protocolHours, `${hour} ${protocol}`, 1, fee);
    }
  }

  #acceptCovenants(
    transaction: string,
    spent: readonly ModelUtxo[],
    outputs: readonly { covenant: { covenantId: Hash } | undefined }[],
    lastTemplates: ReadonlyMap<string, string>,
    position: number,
    { chainIndex, chainTime }: Accepting,
  ): void {
    const before = new Set(spent.flatMap(({ covenantId }) => covenantId ?? []));
    const after = new Set(
      outputs.flatMap(({ covenant }) => (covenant === undefined ? [] : toHex(covenant.covenantId))),
    );
    for (const id of new Set([...before, ...after])) {
      const kind = !before.has(id) ? 'genesis' : after.has(id) ? 'transition' : 'burn';
      const genesis = kind === 'genesis' ? transaction : undefined;
      const covenant = this.#covenants.get(id) ?? {
        genesis,
        isComplete: kind === 'genesis',
        events: 0,
        firstSeen: chainTime,
        lastSeen: chainTime,
        template: undefined,
      };
      covenant.events += 1;
      covenant.lastSeen = chainTime;
      covenant.template = lastTemplates.get(id) ?? covenant.template;
      this.#covenants.set(id, covenant);
      this.#events.set(`${chainIndex} ${position} ${id}`, { event: `${kind} ${transaction}`, chainIndex });
      const hour = `${chainTime / HOUR_MS} ${kind}`;
      this.#covenantHours.set(hour, (this.#covenantHours.get(hour) ?? 0) + 1);
    }
  }

  #acceptLane({ subnetworkId, gas }: AcceptedTransaction['transaction'], fee: bigint, chainTime: bigint): void {
    const namespace = laneNamespace(subnetworkId);
    if (namespace === undefined) return;
    const name = toHex(namespace);
    const empty = { transactions: 0, gas: 0n, fees: 0n };
    const lane = this.#lanes.get(name) ?? { ...empty, firstSeen: chainTime, lastSeen: chainTime };
    const hour = this.#laneHours.get(`${name} ${chainTime / HOUR_MS}`) ?? { ...empty };
    for (const sums of [lane, hour]) {
      sums.transactions += 1;
      sums.gas += gas;
      sums.fees += fee;
    }
    lane.lastSeen = chainTime;
    this.#lanes.set(name, lane);
    this.#laneHours.set(`${name} ${chainTime / HOUR_MS}`, hour);
  }

  #see(
    { hash, template, length, uses }: ProgramDescription,
    first: Omit<Program, 'length' | 'uses' | 'template' | 'spends'>,
  ): void {
    const name = toHex(hash);
    if (this.#programs.has(name)) return;
    this.#programs.set(name, { ...first, length, uses, template: template && toHex(template), spends: 0 });
  }

  #spend(outpoint: Outpoint): ModelUtxo {
    const name = nameOf(outpoint);
    const utxo = this.#utxos.get(name);
    if (utxo === undefined) throw new Error(`an accepted transaction spends ${name}, which does not exist`);
    this.#utxos.delete(name);
    return utxo;
  }

  /** Returns the names of UTXOs by covenant, in order. */
  #byCovenant(): Map<string, string[]> {
    const names = new Map<string, string[]>();
    for (const [name, { covenantId }] of this.#utxos) {
      if (covenantId !== undefined) names.set(covenantId, [...(names.get(covenantId) ?? []), name].sort());
    }
    return names;
  }

  /**
   * @param after leaves out events and inscriptions of chain blocks up to this one, as retention
   * does
   */
  state(after = -1): ApplicationState {
    const utxos = this.#byCovenant();
    const amountOf = (name: string): bigint => this.#utxos.get(name)?.amount ?? 0n;
    const covenants: Section = new Map();
    for (const [id, { genesis, isComplete, events, firstSeen, lastSeen, template }] of this.#covenants) {
      const names = utxos.get(id) ?? [];
      const balance = names.reduce((sum, name) => sum + amountOf(name), 0n);
      covenants.set(id, columns(genesis, isComplete, events, names.length, balance, firstSeen, lastSeen, template));
    }
    const covenantUtxos: Section = new Map();
    for (const [id, names] of utxos) for (const name of names) covenantUtxos.set(name, columns(id, amountOf(name)));
    return {
      covenants,
      'covenant events': sectionOf(keptAfter(this.#events, after), ({ event }) => event),
      'covenant UTXOs': covenantUtxos,
      'covenant hours': sectionOf(this.#covenantHours, String),
      programs: sectionOf(this.#programs, ({ transaction, index, isBare, firstSeen, spends, length, uses, template }) =>
        columns(transaction, index, isBare, firstSeen, spends, length, uses, template),
      ),
      templates: this.#templates(),
      'hours of families': sectionOf(this.#familyHours, (sums) => columns(...sums)),
      lanes: sectionOf(this.#lanes, ({ transactions, gas, fees, firstSeen, lastSeen }) =>
        columns(transactions, gas, fees, firstSeen, lastSeen),
      ),
      'lane hours': sectionOf(this.#laneHours, ({ transactions, gas, fees }) => columns(transactions, gas, fees)),
      inscriptions: sectionOf(keptAfter(this.#inscriptions, after), ({ inscription }) => inscription),
      'protocol hours': sectionOf(this.#protocolHours, (sums) => columns(...sums)),
    };
  }

  #templates(): Section {
    const templates = new Map<string, { programs: number; spends: number; covenants: number; firstSeen: bigint }>();
    for (const { template, spends, firstSeen } of this.#programs.values()) {
      if (template === undefined) continue;
      const known = templates.get(template) ?? { programs: 0, spends: 0, covenants: 0, firstSeen };
      known.programs += 1;
      known.spends += spends;
      if (firstSeen < known.firstSeen) known.firstSeen = firstSeen;
      templates.set(template, known);
    }
    for (const { template } of this.#covenants.values()) {
      const known = template === undefined ? undefined : templates.get(template);
      if (known !== undefined) known.covenants += 1;
    }
    return sectionOf(templates, ({ programs, spends, covenants, firstSeen }) =>
      columns(programs, spends, covenants, firstSeen),
    );
  }
}

/** Joins values, with a dash for none. */
export function columns(...values: readonly (string | number | bigint | boolean | undefined)[]): string {
  return values.map((value) => value ?? '-').join(' ');
}

function keptAfter<T extends { chainIndex: number }>(rows: ReadonlyMap<string, T>, after: number): Map<string, T> {
  return new Map([...rows].filter(([, { chainIndex }]) => chainIndex > after));
}

function sectionOf<T>(map: ReadonlyMap<string, T>, describe: (value: T) => string): Section {
  return new Map(Array.from(map, ([name, value]) => [name, describe(value)]));
}

function addTo(hours: Map<string, [number, bigint]>, name: string, count: number, fees: bigint): void {
  const [counted, paid] = hours.get(name) ?? [0, 0n];
  hours.set(name, [counted + count, paid + fees]);
}

function nameOf({ transactionId, index }: Outpoint): string {
  return `${toHex(transactionId)}:${index}`;
}
