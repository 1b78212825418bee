/**
 * A hostile miner on a real or a simulated node: blocks that follow the rules in isolation and no
 * others, each beside an honest sibling. The node merges them, and decides alone what it accepts.
 */
import {
  ANYONES_SCRIPT,
  createdEntries,
  type DagTransaction,
  HOSTILE_KINDS,
  type HostileKind,
  type HostileSize,
  HostileTransactions,
  outpointKey,
  Random,
  scriptKey,
  type UtxoEntry,
} from '@kasgres/devnet';
import { type CoinbasePayload, toHex } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import { getTemplate, mine, submit } from './miner.ts';

const HONEST: Partial<CoinbasePayload> = { scriptPublicKey: ANYONES_SCRIPT };
/** Room beside the longest script, and beside what the template has. */
const MAX_COINBASE_SCRIPT_BYTES = 150;
const EXTRA_DATA_BYTES = 35;

export interface HostileMinerOptions {
  seed: string;
  /** In DAA scores. */
  coinbaseMaturity: number;
}

export class HostileMiner {
  readonly random: Random;
  readonly transactions: HostileTransactions;
  /** Hex hashes and ids of everything that was mined here, in order. */
  readonly blocks: string[] = [];
  readonly mined = new Map<string, DagTransaction>();
  /** Hex ids of what the node said it accepted. */
  readonly accepted = new Set<string>();
  readonly #node: NodeClient;
  readonly #coinbaseMaturity: number;
  readonly #utxos = new Map<string, UtxoEntry>();
  #sink: string;
  #daaScore = 0;
  #nonce = 0n;

  /** Starts at the node's sink. Nobody else may mine on the node. */
  static async begin(node: NodeClient, options: HostileMinerOptions): Promise<HostileMiner> {
    const { sink } = await node.call('getSink', {});
    return new HostileMiner(node, options, sink);
  }

  private constructor(node: NodeClient, { seed, coinbaseMaturity }: HostileMinerOptions, sink: string) {
    this.#node = node;
    this.#sink = sink;
    this.#coinbaseMaturity = coinbaseMaturity;
    this.random = new Random(seed, 'hostile miner');
    const daaScore = (): number => this.#daaScore;
    this.transactions = new HostileTransactions({
      get daaScore() {
        return daaScore();
      },
      find: (key) => this.#utxos.get(key),
      isMature: this.#isMature,
      isAnyones,
    });
  }

  /** Mines empty blocks whose rewards anybody may spend. */
  async mineEmpty(count: number): Promise<void> {
    for (let made = 0; made < count; made += 1) await this.#mine([{ content: [], miner: HONEST }]);
  }

  /** Mines a block for each content on one template, beside an empty one. */
  async mine(contents: readonly (readonly DagTransaction[])[]): Promise<void> {
    const blocks = contents.map((content) => ({ content, miner: this.#someMiner() }));
    await this.#mine([{ content: [], miner: HONEST }, ...blocks]);
  }

  /** Mines plans of all kinds, whose blocks are mixed, up to three siblings at once. */
  async mineMixed(plans: number, size: () => HostileSize): Promise<void> {
    const saved: (readonly DagTransaction[])[] = [];
    for (let made = 0; made < plans; made += 1) {
      const kind = HOSTILE_KINDS[made % HOSTILE_KINDS.length];
      if (kind !== undefined) saved.push(...this.plan(kind, size()));
      const count = Math.min(saved.length, this.random.between(1, 3));
      await this.mine(Array.from({ length: count }, () => this.#takeFrom(saved)));
      await this.follow();
    }
    while (saved.length > 0) await this.mine([this.#takeFrom(saved)]);
    await this.mineEmpty(3);
    await this.follow();
  }

  plan(kind: HostileKind, size: HostileSize) {
    return this.transactions.plan(kind, this.random, size);
  }

  /** Learns what the node has accepted since the last call. */
  async follow(): Promise<void> {
    const { addedChainBlockHashes, acceptedTransactionIds } = await this.#node.call('getVirtualChainFromBlock', {
      startHash: this.#sink,
      includeAcceptedTransactionIds: true,
    });
    for (const { acceptingBlockHash, acceptedTransactionIds: ids } of acceptedTransactionIds) {
      const { block } = await this.#node.call('getBlock', { hash: acceptingBlockHash, includeTransactions: false });
      this.#daaScore = Number(block?.header?.daaScore);
      for (const id of ids) this.#accept(id);
    }
    this.#sink = addedChainBlockHashes.at(-1) ?? this.#sink;
  }

  /** Returns the outputs that anybody may spend now, oldest first. */
  *spendableOutputs(): Generator<UtxoEntry> {
    for (const entry of this.#utxos.values()) if (this.#isMature(entry) && isAnyones(entry)) yield entry;
  }

  readonly #isMature = ({ isCoinbase, blockDaaScore }: UtxoEntry): boolean =>
    !isCoinbase || Number(blockDaaScore) + this.#coinbaseMaturity < this.#daaScore;

  #accept(id: string): void {
    this.accepted.add(id);
    const transaction = this.mined.get(id);
    if (transaction === undefined) return;
    const isCoinbase = transaction.inputs.length === 0;
    for (const { previousOutpoint } of transaction.inputs) this.#utxos.delete(outpointKey(previousOutpoint));
    for (const entry of createdEntries(transaction, this.#daaScore, isCoinbase)) this.#utxos.set(entry.key, entry);
    this.transactions.learn(transaction, this.#daaScore, isCoinbase);
  }

  async #mine(
    blocks: readonly { content: readonly DagTransaction[]; miner: Partial<CoinbasePayload> }[],
  ): Promise<void> {
    const template = await getTemplate(this.#node);
    for (const { content, miner } of blocks) {
      this.#nonce += 1n;
      const nonce = ((this.random.uint64() << 32n) & (2n ** 64n - 1n)) | this.#nonce;
      const payments = content.map((transaction) => ({ transaction }));
      const block = mine(template, payments, nonce, miner);
      await submit(this.#node, block);
      this.blocks.push(toHex(block.hash));
      for (const transaction of [block.coinbase, ...content]) {
        this.mined.set(toHex(transaction.transactionId), transaction);
      }
    }
  }

  #takeFrom(saved: (readonly DagTransaction[])[]): readonly DagTransaction[] {
    return saved.splice(this.random.below(saved.length), 1)[0] ?? [];
  }

  #someMiner(): Partial<CoinbasePayload> {
    const { version, script } = this.transactions.script(this.random);
    return {
      scriptPublicKey: { version, script: script.subarray(0, MAX_COINBASE_SCRIPT_BYTES) },
      extraData: this.transactions.bytes(this.random, EXTRA_DATA_BYTES),
    };
  }
}

function isAnyones({ scriptPublicKey, covenantId }: UtxoEntry): boolean {
  return scriptKey(scriptPublicKey) === scriptKey(ANYONES_SCRIPT) && covenantId === undefined;
}
