/**
 * A simulated node at rest whose chain founds, moves and burns covenants, for `bench:sync` and
 * `bench:read`. Each covenant has 4.6 events, as those of testnet-10 in July 2026, and each state a
 * new program of the same template.
 *
 *   node bench/covenant-node.ts [--covenants 100000] [--plain]
 *   NODE_URL=<the printed URL> npm run bench:sync
 *
 * --plain makes transactions of the same number, order and size, without covenants and without
 * programs that the index keeps. 100,000 covenants take 1.5 GB of memory here:
 * NODE_OPTIONS=--max-old-space-size=12000 for 500,000.
 */
import { parseArgs } from 'node:util';
import {
  buildTransaction,
  createdEntries,
  type DagTransaction,
  digest,
  type Draft,
  foundedBy,
  NodeServer,
  p2shOf,
  payToKey,
  push,
  Random,
  type UtxoEntry,
  withDerived,
} from '@kasgres/devnet';
import type { RpcBlock } from '@kasgres/node';
import { makeGenesis } from './request-chain/blocks.ts';
import { network, StaticNode } from './static-node.ts';

const FOUNDED_PER_BLOCK = 60;
const MOVES_PER_COVENANT = 3.4;
const BURNS_PER_COVENANT = 0.2;
const BLOCK_MS = 1_000;
const BEGINS_AT = Date.UTC(2026, 6, 1);
const FUNDS = 10e8;
const FEE = 1e5;
/** A covenant makes an output longer by as many bytes. */
const BINDING_BYTES = 34;
/** OpDrop OpTxInputIndex OpInputCovenantId OpDrop OpTrue, and the same number of other opcodes. */
const RULES = Buffer.from('75b9cf7551', 'hex');
const PLAIN_RULES = Buffer.from('7561616151', 'hex');
/** A constant part, so that a program has the length of usual ones. */
const PADDING = Buffer.concat([push(Buffer.alloc(200, 1)), Buffer.of(0x75)]);

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
const miner = payToKey(digest(['miner']));
const live: State[] = [];
let blocks = 0;
let states = 0;
let parent: RpcBlock = genesis;
let funds: UtxoEntry[] = [];

// The first block only has funds.
for (let left = covenants + FOUNDED_PER_BLOCK; left > 0; left -= FOUNDED_PER_BLOCK) {
  mine(
    funds.flatMap((entry) => [
      found(entry),
      ...times(MOVES_PER_COVENANT).flatMap(move),
      ...times(BURNS_PER_COVENANT).flatMap(burn),
    ]),
  );
}
// It accepts the transactions of the last one.
mine([]);
const server = await NodeServer.start({ state: node.state(node.dag.genesis.hash) });
console.log(server.url);

/** Adds a block, whose coinbase has the funds of the next covenants. */
function mine(payments: readonly DagTransaction[]): void {
  blocks += 1;
  const timestamp = BigInt(BEGINS_AT + blocks * BLOCK_MS);
  const rewards = Array.from({ length: FOUNDED_PER_BLOCK }, () => ({ amount: FUNDS, scriptPublicKey: miner }));
  const mined = node.mine(parent, { number: blocks, genesis, timestamp, miner, subsidy: 0, rewards, payments });
  parent = mined.block;
  funds = createdEntries(mined.coinbase, blocks, true);
}

function found(entry: UtxoEntry): DagTransaction {
  return pay({ entry, redeemScript: undefined }, nextProgram());
}

function move(): DagTransaction[] {
  const state = takeState();
  return state === undefined ? [] : [pay({ entry: state.entry, redeemScript: state.program }, nextProgram())];
}

function burn(): DagTransaction[] {
  const state = takeState();
  return state === undefined ? [] : [pay({ entry: state.entry, redeemScript: state.program })];
}

/** @param program of the new state; without it the covenant ends */
function pay(input: Draft['utxos'][number], program?: Uint8Array): DagTransaction {
  const amount = Number(input.entry.amount) - FEE;
  const output = { amount, scriptPublicKey: program === undefined ? miner : p2shOf(program) };
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
  return Buffer.concat([push(digest(['state', states])), PADDING, values.plain ? PLAIN_RULES : RULES]);
}
