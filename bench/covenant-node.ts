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
import {
  buildTransaction,
  createdEntries,
  type DagTransaction,
  digest,
  type Draft,
  foundedBy,
  NodeServer,
  p2shOf,
  push,
  Random,
  type UtxoEntry,
  withDerived,
} from '@kasgres/devnet';
import { readOptions } from './options.ts';
import { StaticNode, takeAny } from './static-node.ts';

const FOUNDED_PER_BLOCK = 60;
const MOVES_PER_COVENANT = 3.4;
const BURNS_PER_COVENANT = 0.2;
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

const { covenants, plain } = readOptions({ covenants: 100_000, plain: false });
const random = new Random('covenants', 'bench');
const node = new StaticNode();
const rewards = Array.from({ length: FOUNDED_PER_BLOCK }, () => ({ amount: FUNDS, scriptPublicKey: node.miner }));
const live: State[] = [];
let states = 0;
/** Those of the latest coinbase, for the next covenants. */
let funds: UtxoEntry[] = [];

// The first block only has funds.
for (let left = covenants + FOUNDED_PER_BLOCK; left > 0; left -= FOUNDED_PER_BLOCK) {
  const payments = funds.flatMap((entry) => [
    pay({ entry, redeemScript: undefined }, nextProgram()),
    ...times(MOVES_PER_COVENANT).flatMap(() => spendAny(nextProgram)),
    ...times(BURNS_PER_COVENANT).flatMap(() => spendAny(() => undefined)),
  ]);
  const coinbase = node.mine({ subsidy: 0, rewards, payments });
  funds = createdEntries(coinbase, node.blocks, true);
}
// It accepts the transactions of the last one.
node.mine({ subsidy: 0, rewards, payments: [] });
const server = await NodeServer.start({ state: node.state() });
console.log(server.url);

/** Moves or ends one of the covenants, if there is one. */
function spendAny(program: () => Uint8Array | undefined): DagTransaction[] {
  const state = takeAny(live, random);
  return state === undefined ? [] : [pay({ entry: state.entry, redeemScript: state.program }, program())];
}

/** @param program of the new state; without it the covenant ends */
function pay(input: Draft['utxos'][number], program?: Uint8Array): DagTransaction {
  const amount = Number(input.entry.amount) - FEE;
  const output = { amount, scriptPublicKey: program === undefined ? node.miner : p2shOf(program) };
  const isBound = program !== undefined && !plain;
  const covenant = isBound && {
    covenant: { authorizingInput: 0, covenantId: input.entry.covenantId ?? foundedBy(input.entry, [[0, output]]) },
  };
  const payload = Buffer.alloc(plain && program !== undefined ? BINDING_BYTES : 0);
  const transaction = withDerived(
    buildTransaction({ version: 1, utxos: [input], outputs: [{ ...output, ...covenant }], payload }),
  );
  const [entry] = createdEntries(transaction, 0, false);
  if (entry !== undefined && program !== undefined) live.push({ entry, program });
  return transaction;
}

/** Returns an array whose average length is `average`. */
function times(average: number): undefined[] {
  return Array.from({ length: Math.floor(average) + (random.chance(average % 1) ? 1 : 0) });
}

function nextProgram(): Uint8Array {
  states += 1;
  return Buffer.concat([push(digest(['state', states])), PADDING, plain ? PLAIN_RULES : RULES]);
}
