/**
 * A simulated node at rest whose chain founds, moves and burns covenants, for `bench:sync` and `bench:read`. Each covenant has 4.6 events, as those of
 * testnet-10 in July 2026, and each state a new program of the same template.
 *
 *   node bench/covenant-node.ts [--covenants 100000] [--plain]
 *   NODE_URL=<the printed URL> npm run bench:sync
 *
 * --plain makes transactions of the same number, order and size, without covenants and without programs that the index keeps. 100,000 covenants take
 * 1.5 GB of memory here: NODE_OPTIONS=--max-old-space-size=12000 for 500,000.
 */
import { parseArgs } from 'node:util';
import {
  createdEntries,
  digest,
  type Draft,
  buildTransaction,
  foundedBy,
  NodeServer,
  Random,
  withDerived,
} from '@kasgres/devnet';
import type { UtxoEntry } from '@kasgres/devnet';
import { blake2b256, type ScriptPublicKey, workFromBits } from '@kasgres/kaspa';
import type { RpcBlock, RpcTransaction } from '@kasgres/node';
import { makeBlock, makeGenesis } from './request-chain/blocks.ts';
import { network, StaticNode } from './static-node.ts';

const FOUNDED_PER_BLOCK = 60;
const MOVES_PER_COVENANT = 3.4;
const BURNS_PER_COVENANT = 0.2;
const BLOCK_MS = 1_000;
const BEGINS_AT = Date.UTC(2026, 6, 1);
const FUNDS = 10e8;
const FEE = 1e5;
const STATE_BYTES = 32;
/** What a covenant adds to an output, in bytes. */
const BINDING_BYTES = 34;
/** OpDrop OpTxInputIndex OpInputCovenantId OpDrop OpTrue, and the same number of other opcodes. */
const RULES = Buffer.from('75b9cf7551', 'hex');
const PLAIN_RULES = Buffer.from('7561616151', 'hex');
/** A constant part, so that a program has the length of usual ones. */
const PADDING = Buffer.concat([Buffer.of(0x4c, 200), Buffer.alloc(200, 1), Buffer.of(0x75)]);

interface State {
  entry: UtxoEntry;
  program: Uint8Array;
}

const { values } = parseArgs({
  options: { covenants: { type: 'string', default: '100000' }, plain: { type: 'boolean', default: false } },
});
const covenants = Number(values.covenants);
const random = new Random('covenants', 'bench');
const node = new StaticNode();
const genesis = makeGenesis(network);
const miner = payTo(digest(['miner']));
const live: State[] = [];
let states = 0;
let parent: RpcBlock = genesis;
let funds: UtxoEntry[] = [];

for (let number = 1, founded = 0; ; number += 1) {
  const isLast = founded >= covenants;
  const payments = isLast
    ? []
    : funds.flatMap((entry) => [
        found(entry),
        ...times(MOVES_PER_COVENANT).flatMap(move),
        ...times(BURNS_PER_COVENANT).flatMap(burn),
      ]);
  founded += funds.length;
  const block = mine(number, payments);
  const [coinbase] = block.transactions;
  funds = coinbase === undefined ? [] : createdEntries(coinbase, number, true);
  node.add(block.header, block.transactions.map(withDerived));
  parent = block;
  if (isLast) break;
}
const server = await NodeServer.start({ state: node.state(node.dag.genesis.hash) });
console.log(server.url);

function mine(number: number, payments: readonly RpcTransaction[]): RpcBlock {
  const { header } = parent;
  return makeBlock({
    number,
    genesis,
    selectedParent: parent,
    blues: [parent],
    reds: [],
    blueWork: header.blueWork + workFromBits(header.bits),
    bits: header.bits,
    timestamp: BigInt(BEGINS_AT + number * BLOCK_MS),
    miner: { scriptPublicKey: miner, extraData: '2.1.0/', subsidy: 0 },
    rewards: Array.from({ length: FOUNDED_PER_BLOCK }, () => ({ amount: FUNDS, scriptPublicKey: miner })),
    payments,
  });
}

function found(entry: UtxoEntry): RpcTransaction {
  return pay({ entry, redeemScript: undefined }, nextProgram());
}

function move(): RpcTransaction[] {
  const state = takeState();
  return state === undefined ? [] : [pay({ entry: state.entry, redeemScript: state.program }, nextProgram())];
}

function burn(): RpcTransaction[] {
  const state = takeState();
  return state === undefined ? [] : [pay({ entry: state.entry, redeemScript: state.program })];
}

/** @param program of the new state; without it the covenant ends */
function pay(input: Draft['utxos'][number], program?: Uint8Array): RpcTransaction {
  const amount = Number(input.entry.amount) - FEE;
  const output = { amount, scriptPublicKey: program === undefined ? miner : scriptHashOf(program) };
  const isBound = program !== undefined && !values.plain;
  const covenant = isBound && {
    covenant: { authorizingInput: 0, covenantId: input.entry.covenantId ?? foundedBy(input.entry, [[0, output]]) },
  };
  const payload = Buffer.alloc(values.plain && program !== undefined ? BINDING_BYTES : 0);
  const transaction = withDerived(
    buildTransaction({ version: 1, utxos: [input], outputs: [{ ...output, ...covenant }], payload }),
  );
  const [entry] = createdEntries(transaction, 0, false);
  if (entry !== undefined && program !== undefined) live.push({ entry, program });
  return transaction;
}

function takeState(): State | undefined {
  if (live.length === 0) return undefined;
  const index = random.below(live.length);
  const [state, last] = [live[index], live.pop()];
  if (index < live.length && last !== undefined) live[index] = last;
  return state;
}

/** Returns an array whose average length is `average`. */
function times(average: number): undefined[] {
  return Array.from({ length: Math.floor(average) + (random.chance(average % 1) ? 1 : 0) });
}

function nextProgram(): Uint8Array {
  states += 1;
  return Buffer.concat([
    Buffer.of(STATE_BYTES),
    digest(['state', states]),
    PADDING,
    values.plain ? PLAIN_RULES : RULES,
  ]);
}

function scriptHashOf(program: Uint8Array): ScriptPublicKey {
  return { version: 0, script: Buffer.concat([Buffer.of(0xaa, 0x20), blake2b256(program), Buffer.of(0x87)]) };
}

function payTo(key: Uint8Array): ScriptPublicKey {
  return { version: 0, script: Buffer.concat([Buffer.of(0x20), key, Buffer.of(0xac)]) };
}
