/** The miners of the load on one node: templates that know of everything handed in before, blocks on them, and handing them in. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type ScriptPublicKey, toHex } from '@kasgres/kaspa';
import type { NodeClient, protocol } from '@kasgres/node';
import { getTemplate, mine, type MinedBlock, submit } from './miner.ts';
import { nonStandardOwners, type Owner, schnorrOwner } from './owner.ts';
import { utxosOf, type Payment } from './payment.ts';
import type { Random } from './random.ts';
import type { Wallet } from './wallet.ts';

/** How many blocks' coinbases name a script without an address. */
const NON_STANDARD_MINER = 0.05;
/** A template may leave a parent out for good reasons, so it is not waited for any longer. */
const PATIENCE_MS = 400;

export class Mining {
  /** Handed in so far. */
  blocks = 0;
  readonly #node: NodeClient;
  readonly #random: Random;
  readonly #wallet: Wallet;
  readonly #miners: readonly Owner[];
  readonly #nonStandardMiners: readonly Owner[];
  /** Named by templates whose coinbase is then made out to a script without an address. */
  readonly #standIn: Owner;
  readonly #ownersByScript: Map<string, Owner>;
  #nonce = 0n;
  /** Hex hashes of blocks that the next template should merge. */
  #unmerged: string[] = [];

  constructor(node: NodeClient, random: Random, wallet: Wallet, miners: readonly Owner[]) {
    this.#node = node;
    this.#random = random;
    this.#wallet = wallet;
    this.#miners = miners;
    this.#standIn = schnorrOwner(random.bytes(32));
    this.#nonStandardMiners = nonStandardOwners((count) => random.bytes(count));
    const owners = [...miners, ...this.#nonStandardMiners];
    this.#ownersByScript = new Map(owners.map((owner) => [scriptKey(owner.scriptPublicKey), owner]));
  }

  /** Templates of siblings: all of one moment, each for a miner of its own choosing. */
  async templates(count: number): Promise<protocol.Block[]> {
    const first = await this.#freshTemplate();
    const others = await Promise.all(Array.from({ length: count - 1 }, () => this.#template()));
    return [first, ...others];
  }

  make(template: protocol.Block, payments: Payment[]): MinedBlock {
    this.#nonce += 1n;
    const namesStandIn = (template.transactions[0]?.payload ?? '').includes(
      toHex(this.#standIn.scriptPublicKey.script),
    );
    const payTo = namesStandIn ? { payTo: this.#random.pick(this.#nonStandardMiners).scriptPublicKey } : {};
    // The upper bits make hashes, and so the order of siblings, a matter of chance.
    const nonce = ((this.#random.uint64() << 32n) & (2n ** 64n - 1n)) | this.#nonce;
    const block = mine(template, payments, { nonce, ...payTo });
    const { coinbase, coinbaseId } = block;
    const owners = coinbase.outputs.map(({ scriptPublicKey }) => this.#ownersByScript.get(scriptKey(scriptPublicKey)));
    this.#wallet.expect(coinbaseId, utxosOf(coinbaseId, coinbase, owners), { isCoinbase: true });
    for (const { id, makes } of payments) this.#wallet.expect(id, makes);
    return block;
  }

  /** `invalid` ones are handed in too, but no template has to merge them. */
  async handIn(blocks: MinedBlock[], invalid: MinedBlock[] = []): Promise<void> {
    const all = [...blocks, ...invalid];
    this.#unmerged = blocks.map(({ hash }) => toHex(hash));
    this.blocks += all.length;
    await Promise.all(all.map((block) => submit(this.#node, block)));
  }

  async #freshTemplate(): Promise<protocol.Block> {
    const giveUpAt = Date.now() + PATIENCE_MS;
    for (;;) {
      const template = await this.#template();
      const parents = template.header?.parents[0]?.parentHashes ?? [];
      if (this.#unmerged.every((hash) => parents.includes(hash)) || Date.now() > giveUpAt) return template;
      await sleep(2);
    }
  }

  async #template(): Promise<protocol.Block> {
    if (!this.#random.chance(NON_STANDARD_MINER)) return getTemplate(this.#node, this.#random.pick(this.#miners));
    const template = await getTemplate(this.#node, this.#standIn);
    // An output to the miner itself is its reward for red blocks, and has to stay what the payload says.
    const script = toHex(this.#standIn.scriptPublicKey.script);
    const paysStandIn = template.transactions[0]?.outputs.some(
      (output) => output.scriptPublicKey?.scriptPublicKey === script,
    );
    return paysStandIn === true ? getTemplate(this.#node, this.#random.pick(this.#miners)) : template;
  }
}

function scriptKey({ version, script }: ScriptPublicKey): string {
  return `${version}:${toHex(script)}`;
}
