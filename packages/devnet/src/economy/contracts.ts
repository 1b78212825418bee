/**
 * Contracts of the simulated network: programs with their state in pushes at fixed places, so that
 * all states of a contract have one template. Some are builds that testnet-10 has, so that their
 * templates have names. A simulated node does not run them: it only checks the hash of a program.
 */
import { toHex } from '@kasgres/kaspa';
import { ALLOWANCE, COLLECTION, LOG, TOKEN, VAULT } from './chain-programs.ts';
import type { Random } from './random.ts';
import { push } from './scripts.ts';

interface Field {
  /**
   * How a new state changes the value. A constant differs between programs only, an owner changes
   * now and then, a digest always. A counter goes up by one, and an amount is any small number,
   * both in little-endian order.
   */
  kind: 'constant' | 'owner' | 'digest' | 'counter' | 'amount';
  /** Where the value is within the program, in all places where it is repeated. */
  offsets: readonly number[];
  length: number;
}

export interface Contract {
  name: string;
  /** A program of it. The fields have any values. */
  program: Uint8Array;
  fields: readonly Field[];
  /**
   * Whether the program is itself the script of an output, and not the preimage of a P2SH script.
   */
  isBare: boolean;
  /** The pushes of a spend between the signature and the program: arguments or a proof. */
  argumentBytes: number;
  /** How often it is chosen. */
  weight: number;
}

const KEY = new Uint8Array(32);
const NUMBER = new Uint8Array(8);
const AMOUNT_BYTES = 5;
const TO_OTHER_OWNER_RATE = 0.6;

/** Spells the opcodes that follow the state. */
const HEX = {
  drop: '75',
  verify: '69',
  /** OpTxInputIndex OpInputCovenantId OpDrop */
  covenant: 'b9cf75',
  /** OpTxInputIndex OpDrop */
  inputIndex: 'b975',
  /** The tag of Groth16 and OpZkPrecompile. */
  groth16: '0120a6',
  /** The tag of RISC Zero and OpZkPrecompile. */
  risc0: '0121a6',
  /** OpZkPrecompile with a tag from the spender. */
  zk: 'a6',
  /** OpDup OpChainblockSeqCommit OpDrop */
  sequencing: '76d475',
  checkSig: 'ac',
};

const invented = (parts: readonly (Uint8Array | keyof typeof HEX)[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(HEX[part], 'hex') : push(part))));

const signed = (parts: readonly (Uint8Array | keyof typeof HEX)[]): Uint8Array => invented([...parts, KEY, 'checkSig']);

const field = (kind: Field['kind'], length: number, ...offsets: number[]): Field => ({ kind, offsets, length });

export const CONTRACTS: readonly Contract[] = [
  {
    name: 'token',
    program: TOKEN,
    fields: [field('owner', 32, 2), field('amount', 8, 37)],
    isBare: false,
    argumentBytes: 40,
    weight: 4,
  },
  {
    name: 'log',
    program: LOG,
    fields: [field('digest', 32, 2), field('counter', 8, 35)],
    isBare: false,
    argumentBytes: 9,
    weight: 4,
  },
  {
    name: 'allowance',
    program: ALLOWANCE,
    fields: [field('amount', 8, 2), field('constant', 32, 23, 224)],
    isBare: false,
    argumentBytes: 12,
    weight: 2,
  },
  {
    name: 'collection',
    program: COLLECTION,
    fields: [field('constant', 4, 20)],
    isBare: false,
    argumentBytes: 0,
    weight: 2,
  },
  { name: 'vault', program: VAULT, fields: [field('constant', 32, 145)], isBare: false, argumentBytes: 1, weight: 2 },
  {
    name: 'rollup',
    program: signed([KEY, NUMBER, 'drop', 'sequencing', 'groth16', 'verify', 'covenant']),
    fields: [field('digest', 32, 1), field('counter', 8, 34)],
    isBare: false,
    argumentBytes: 128,
    weight: 3,
  },
  {
    name: 'receipt',
    program: signed([KEY, 'drop', 'risc0', 'verify', 'covenant']),
    fields: [field('digest', 32, 1)],
    isBare: false,
    argumentBytes: 220,
    weight: 1,
  },
  {
    name: 'proof',
    program: signed([KEY, 'drop', 'zk', 'verify']),
    fields: [field('digest', 32, 1)],
    isBare: false,
    argumentBytes: 90,
    weight: 1,
  },
  {
    name: 'note',
    program: signed([NUMBER, 'drop']),
    fields: [field('counter', 8, 1), field('constant', 32, 11)],
    isBare: false,
    argumentBytes: 0,
    weight: 2,
  },
  {
    name: 'bare',
    program: signed([NUMBER, 'drop', 'inputIndex']),
    fields: [field('counter', 8, 1), field('constant', 32, 13)],
    isBare: true,
    argumentBytes: 0,
    weight: 1,
  },
];

/** Returns the program of a new instance of a contract. */
export function firstProgram(contract: Contract, random: Random): Uint8Array {
  return withFields(contract, contract.program, (field) => {
    if (field.kind === 'counter') return new Uint8Array(field.length);
    return field.kind === 'amount' ? someAmount(field, random) : random.bytes(field.length);
  });
}

/** Returns a program with the state that follows that of another one. */
export function nextProgram(contract: Contract, before: Uint8Array, random: Random): Uint8Array {
  return withFields(contract, before, (field, value) => {
    switch (field.kind) {
      case 'constant':
        return value;
      case 'owner':
        return random.chance(TO_OTHER_OWNER_RATE) ? random.bytes(field.length) : value;
      case 'digest':
        return random.bytes(field.length);
      case 'counter':
        return numberBytes(Buffer.from(value).readUIntLE(0, AMOUNT_BYTES) + 1, field.length);
      case 'amount':
        return someAmount(field, random);
      default:
        return field.kind satisfies never;
    }
  });
}

/** Returns the contract of which this is a program. */
export function contractOf(program: Uint8Array): Contract | undefined {
  return CONTRACTS.find((contract) => {
    if (contract.program.length !== program.length) return false;
    return toHex(blank(contract, program)) === toHex(blank(contract, contract.program));
  });
}

function blank(contract: Contract, program: Uint8Array): Uint8Array {
  return withFields(contract, program, ({ length }) => new Uint8Array(length));
}

function withFields(
  { fields }: Contract,
  program: Uint8Array,
  valueOf: (field: Field, value: Uint8Array) => Uint8Array,
): Uint8Array {
  const changed = Uint8Array.from(program);
  for (const field of fields) {
    const [first = 0] = field.offsets;
    const value = valueOf(field, program.subarray(first, first + field.length));
    for (const offset of field.offsets) changed.set(value, offset);
  }
  return changed;
}

function someAmount({ length }: Field, random: Random): Uint8Array {
  return numberBytes(random.below(10 ** random.between(2, 10)), length);
}

function numberBytes(number: number, length: number): Uint8Array {
  const bytes = Buffer.alloc(length);
  bytes.writeUIntLE(number, 0, Math.min(length, AMOUNT_BYTES));
  return bytes;
}
