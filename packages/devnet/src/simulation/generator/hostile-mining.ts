import {
  classifyScript,
  decodeCoinbasePayload,
  encodeCoinbasePayload,
  headerHash,
  MAX_SOMPI,
  merkleRoot,
} from '@kasgres/kaspa';
import type { DagTransaction } from '../../dag/dag.ts';
import { withDerived } from '../../economy/build-transaction.ts';
import type { HostileSize } from '../../economy/hostile-parts.ts';
import { HOSTILE_KINDS, HostileTransactions } from '../../economy/hostile-transactions.ts';
import type { Random } from '../../economy/random.ts';
import type { Miner } from '../consensus/coinbase.ts';
import type { BlockBody, Virtual } from '../consensus/consensus.ts';
import { isImmature } from '../consensus/transaction-rules.ts';
import { assembleBlock } from '../node/assemble-block.ts';
import type { SimulatedNode } from '../node/simulated-node.ts';

/** The share of blocks whose contents were planned before. The others begin a new plan. */
const CONTINUE_RATE = 0.6;
/** The share of blocks that are mined on the same virtual block as the one before. */
const SIBLING_RATE = 0.4;
/** The share of blocks with a coinbase or a header that no chain block may have. */
const DISFIGURED_RATE = 0.15;
/** Plans that are not complete yet. */
const MAX_SAVED_BLOCKS = 40;
/**
 * A block may claim a time that is this far from that of an honest miner: the node would no longer
 * call itself synced if it were older.
 */
const OLDEST_MS = 600_000;
const MAX_COINBASE_SCRIPT_BYTES = 150;
/** Room for extra data beside the longest script. */
const EXTRA_DATA_BYTES = 35;

/** A miner whose blocks follow the rules in isolation and no others. */
export class HostileMining {
  readonly transactions: HostileTransactions;
  private readonly node: SimulatedNode;
  /** Contents of blocks for later, in any order. */
  private readonly saved: (readonly DagTransaction[])[] = [];

  constructor(node: SimulatedNode) {
    this.node = node;
    const { consensus } = node;
    this.transactions = new HostileTransactions({
      get daaScore() {
        return consensus.virtual.daaScore;
      },
      find: (key) => consensus.utxos.find(key),
      isMature: (entry) => !isImmature(entry, consensus.virtual.daaScore, consensus.params),
      // Simulated nodes do not execute scripts, but they compare the hashes of programs.
      isAnyones: ({ covenantId, scriptPublicKey }) =>
        covenantId === undefined && classifyScript(scriptPublicKey) !== 'scripthash',
    });
  }

  /** Mines a block, or two siblings. The timestamp is an honest miner's, in Unix milliseconds. */
  mine(timestamp: number, random: Random): void {
    const { virtual } = this.node.consensus;
    do this.mineOn(virtual, timestamp, random);
    while (random.chance(SIBLING_RATE));
  }

  private mineOn(virtual: Virtual, timestamp: number, random: Random): void {
    const earliest = Math.max(virtual.pastMedianTime + 1, timestamp - OLDEST_MS);
    const latest = timestamp + this.node.consensus.params.timestampToleranceMs;
    const body = assembleBlock(this.node.consensus, {
      virtual,
      miner: this.miner(random),
      payments: this.contents(random),
      timestamp: random.pick([timestamp, timestamp, earliest, latest]),
      nonce: random.uint64(),
    });
    this.node.receive(random.chance(DISFIGURED_RATE) ? disfigured(body, random) : body);
  }

  private contents(random: Random): readonly DagTransaction[] {
    if (this.saved.length < MAX_SAVED_BLOCKS && !random.chance(CONTINUE_RATE)) {
      const size: HostileSize = {
        transactions: random.between(1, 4),
        inputs: random.between(1, 20),
        blocks: random.between(1, 4),
      };
      this.saved.push(...this.transactions.plan(random.pick(HOSTILE_KINDS), random, size));
    }
    return this.saved.splice(random.below(this.saved.length), 1)[0] ?? [];
  }

  private miner(random: Random): Miner {
    const { version, script } = this.transactions.script(random);
    return {
      scriptPublicKey: { version, script: script.subarray(0, MAX_COINBASE_SCRIPT_BYTES) },
      extraData: this.transactions.bytes(random, EXTRA_DATA_BYTES),
    };
  }
}

/** Returns the block with a coinbase that pays anything, or with commitments to another past. */
function disfigured({ header, transactions }: BlockBody, random: Random): BlockBody {
  const [coinbase, ...payments] = transactions;
  if (coinbase === undefined) throw new Error('a block without a coinbase');
  if (random.chance(0.5)) {
    const changed = { ...header, utxoCommitment: random.bytes(32), acceptedIdMerkleRoot: random.bytes(32) };
    return { hash: headerHash(changed), header: changed, transactions };
  }
  const { scriptPublicKey } = decodeCoinbasePayload(coinbase.payload);
  const greedy = withDerived({
    ...coinbase,
    outputs: random.pick([[], [{ amount: MAX_SOMPI, scriptPublicKey, covenant: undefined }]]),
    lockTime: random.uint64(),
    payload: encodeCoinbasePayload({
      ...decodeCoinbasePayload(coinbase.payload),
      extraData: Buffer.from([0, 255, 0]),
    }),
  });
  const all = [greedy, ...payments];
  const changed = { ...header, hashMerkleRoot: merkleRoot(all.map(({ hash }) => hash)) };
  return { hash: headerHash(changed), header: changed, transactions: all };
}
