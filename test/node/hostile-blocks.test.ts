/**
 * Blocks of a hostile miner on a real node: each is valid in isolation, and the chain merges it and
 * accepts what is valid by then. The index must follow, be the same as a fresh one, and show all of
 * it.
 */
import { createKey } from '@kasgres/database';
import { createdEntries, p2shOf, payToKey, plain, push, withInput } from '@kasgres/devnet';
import { scriptToAddress, toHex } from '@kasgres/kaspa';
import { expect, onTestFinished, test } from 'vitest';
import { ApiClient } from '../support/api-client.ts';
import { expectShown } from '../support/hostile-objects.ts';
import { findKaspad } from '../support/kaspad.ts';
import { startApi } from '../support/programs.ts';
import { expectRight, startIndex, startIndexing, startPeer, untilIndexed } from './harness.ts';
import { HostileMiner } from './load/hostile-miner.ts';
import { smallPruningLoad } from './pruning.ts';

/** More in a long run. */
const PLANS = Number(process.env['HOSTILE_PLANS'] ?? 64);
const KILLS = 3;
const WARM_UP_BLOCKS = 120;
const FEE = 100_000n;

test.skipIf(findKaspad() === undefined)(
  'an index follows a hostile miner through restarts, equals a fresh one, and shows every block and transaction',
  async () => {
    const peer = await startPeer();
    const seed = process.env['LOAD_SEED'] ?? 'hostile';
    process.stdout.write(`Hostile blocks of the seed '${seed}'.\n`);
    const coinbaseMaturity = Number(smallPruningLoad.coinbaseMaturity);
    const miner = await HostileMiner.begin(peer.node, { seed, coinbaseMaturity });
    await miner.mineEmpty(WARM_UP_BLOCKS);
    await miner.follow();
    const index = await startIndex([peer]);
    const size = () => ({
      transactions: miner.random.between(1, 6),
      inputs: miner.random.between(1, 40),
      blocks: miner.random.between(1, 4),
    });
    for (let kill = 0; kill <= KILLS; kill += 1) {
      await miner.mineMixed(Math.ceil(PLANS / (KILLS + 1)), size);
      await untilIndexed(index, peer);
      await index.indexer.kill();
      index.indexer = startIndexing(index.database, [peer]);
    }
    // The spenders first, and then what they spend.
    for (const isReversed of [false, true]) {
      const poison = miner.plan('sums', { transactions: 2, inputs: 1, blocks: 1 });
      for (const content of isReversed ? poison.toReversed() : poison) {
        await miner.mine([content]);
        await miner.mineEmpty(2);
      }
    }
    await miner.follow();
    await expectRight(index, peer);

    const { key } = await createKey(index.database.kysely, { name: 'hostile', rateRu: 100_000 });
    const { program, url } = await startApi({ nodeUrl: peer.kaspad.url, databaseUrl: index.database.url });
    onTestFinished(() => program.stop().then(() => undefined));
    await expectShown(new ApiClient(url, key), miner);
  },
);

test.skipIf(findKaspad() === undefined)(
  'it indexes an envelope with an empty signature, of a key that was never paid',
  async () => {
    const peer = await startPeer();
    const coinbaseMaturity = Number(smallPruningLoad.coinbaseMaturity);
    const miner = await HostileMiner.begin(peer.node, { seed: 'envelope', coinbaseMaturity });
    await miner.mineEmpty(WARM_UP_BLOCKS);
    await miner.follow();
    const index = await startIndex([peer]);
    await untilIndexed(index, peer);

    const [origin] = miner.spendableOutputs();
    if (origin === undefined) throw new Error('there is nothing to spend');
    const owner = payToKey(miner.random.bytes(32));
    // The check of the empty signature is false, OpFalse OpIf … OpEndIf does nothing, and OpDrop
    // OpTrue follow.
    const program = Buffer.concat([
      owner.script,
      Buffer.from('0063', 'hex'),
      push(Buffer.from('kspr')),
      Buffer.from('687551', 'hex'),
    ]);
    const commitment = plain(origin, 1n, undefined, {
      outputs: [{ amount: origin.amount - FEE, scriptPublicKey: p2shOf(program), covenant: undefined }],
    });
    const [entry] = createdEntries(commitment, 0, false);
    if (entry === undefined) throw new Error('there is no output');
    const reveal = withInput(plain(entry, entry.amount - FEE), {
      signatureScript: Buffer.concat([Buffer.of(0), push(program)]),
      sigOpCount: 1,
    });
    for (const transaction of [commitment, reveal]) {
      await miner.mine([[transaction]]);
      await miner.mineEmpty(2);
    }
    await miner.follow();
    expect([...miner.accepted]).toContain(toHex(reveal.transactionId));
    await untilIndexed(index, peer);
    const { rows } = await index.database.pool.query(
      'select protocol, operation, owner_address from kaspa.inscriptions',
    );
    expect(rows).toEqual([
      { protocol: 'kspr', operation: 'undecodable', owner_address: scriptToAddress(owner, 'kaspasim') },
    ]);
    await expectRight(index, peer);
  },
);
