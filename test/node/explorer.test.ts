/**
 * Streams, webhooks and rewards on a real node: clients that are cut at random moments, while the
 * node mines and reorganises.
 */
import { createKey } from '@kasgres/database';
import { decodeCoinbasePayload, fromHex, scriptToAddress, toHex } from '@kasgres/kaspa';
import { expect, onTestFinished, test } from 'vitest';
import { createClient } from '../support/client.ts';
import { findKaspad } from '../support/kaspad.ts';
import { startApi, startProgram } from '../support/programs.ts';
import { StreamFollower } from '../support/stream-follower.ts';
import { checkSteps } from '../support/streams.ts';
import { UnreliableConnections } from '../support/unreliable-connections.ts';
import { WebhookReceiver } from '../support/webhook-receiver.ts';
import { more, startIndex, startLoad, startPeer, untilIndexed } from './harness.ts';

/** More in the long run: `STREAM_CUTS=1000`. */
const CUTS = Number(process.env['STREAM_CUTS'] ?? 200);
const CUTS_PER_STEP = 20;

test.skipIf(findKaspad() === undefined)(
  'streams and webhooks are exact through reorganisations, cuts and crashes, and rewards are those of the node',
  async () => {
    const peer = await startPeer();
    const load = await startLoad(peer, 'explorer', 120);
    const index = await startIndex([peer], {});
    await untilIndexed(index, peer);
    const { pool, url: databaseUrl, kysely } = index.database;
    const { key } = await createKey(kysely, { name: 'stream', rateRu: 1000 });
    const env = { nodeUrl: peer.kaspad.url, databaseUrl };
    const variables = { WEBHOOK_SECRET_KEY: Buffer.alloc(32, 'node').toString('base64'), WEBHOOK_ALLOW: '127.0.0.1' };
    const { program, url } = await startApi(env, undefined, variables);
    onTestFinished(() => program.stop().then(() => undefined));
    const client = createClient({ baseUrl: url, apiKey: key });

    const listChain = async () => {
      const { rows } = await pool.query<{ hash: string }>(
        "select encode(hash, 'hex') as hash from chain_blocks order by index",
      );
      return rows.map(({ hash }) => hash);
    };
    const readBalances = async (limit: number) => {
      const { rows } = await pool.query<{ address: string; balance: bigint }>(
        'select address, balance from balances join scripts on id = script_id where address is not null order by transaction_count desc limit $1',
        [limit],
      );
      return new Map(rows.map(({ address, balance }) => [address, balance]));
    };

    // At rest, so that chain and balances are of one state.
    const balances = await readBalances(20);
    const follower = new StreamFollower(await listChain(), balances);
    const receiver = new WebhookReceiver();
    await receiver.start();
    onTestFinished(() => receiver.stop());
    receiver.behave = () => (Math.random() < 0.1 ? 'lose' : 'confirm');
    const hook = await client.post('/v1/webhooks', {
      body: { url: receiver.url, events: ['chain'], addresses: [...balances.keys()], include: 'accepted_ids' },
    });
    receiver.secret = hook.secret;
    const hooked = new StreamFollower(await listChain(), new Map(balances));
    const startDeliverer = () => startProgram('../../packages/webhooks/src/main.ts', env, variables);
    let deliverer = startDeliverer();
    onTestFinished(() => deliverer.stop());
    const connections = new UnreliableConnections();
    const cuttable = createClient({ baseUrl: url, apiKey: key, fetch: connections.fetch });
    const end = new AbortController();
    const following = (async () => {
      const from = follower.chain.at(-1) as string;
      const options = { events: ['chain'] as const, addresses: [...balances.keys()], acceptedIds: true, from };
      for await (const step of checkSteps(cuttable.subscribe({ ...options, signal: end.signal, reconnectMs: 2 })))
        follower.apply(step);
    })();
    for (let step = 0; connections.cuts < CUTS; step += 1) {
      await more(load, 10);
      if (step % 3 === 2) {
        await deliverer.kill();
        deliverer = startDeliverer();
      }
      await Promise.race([connections.lose(CUTS_PER_STEP), following]);
    }
    connections.isReliable = true;
    await untilIndexed(index, peer);
    const sink = (await peer.node.call('getSink', {})).sink;
    await expect.poll(() => follower.chain.at(-1), { timeout: 30_000 }).toBe(sink);
    end.abort();
    await following;
    expect(follower.faults).toEqual([]);
    expect(follower.chain).toEqual(await listChain());
    const now = await readBalances(10_000);
    for (const [address, balance] of follower.balances) expect(balance, address).toBe(now.get(address));
    await expect.poll(() => receiver.received.at(-1)?.cursor, { timeout: 120_000 }).toBe(sink);
    for (const { events, cursor } of receiver.received) hooked.apply({ events, cursor });
    expect([receiver.faults, hooked.faults]).toEqual([[], []]);
    expect(hooked.chain).toEqual(follower.chain);
    for (const [address, balance] of hooked.balances) expect(balance, address).toBe(now.get(address));
    const { added, accepted } = { added: follower.chain.slice(-100), accepted: follower.accepted };
    const ofNode = await peer.node.call('getVirtualChainFromBlock', {
      startHash: added[0] as string,
      includeAcceptedTransactionIds: true,
      minConfirmationCount: 0n,
    });
    for (const { acceptingBlockHash, acceptedTransactionIds } of ofNode.acceptedTransactionIds) {
      if (!accepted.has(acceptingBlockHash)) continue;
      expect(accepted.get(acceptingBlockHash)).toEqual(acceptedTransactionIds);
      expect(hooked.accepted.get(acceptingBlockHash)).toEqual(acceptedTransactionIds);
    }

    let rewarded = 0;
    const { rows: blocks } = await pool.query<{ hash: string }>(
      "select encode(hash, 'hex') as hash from blocks where merging_block_id is not null and selected_parent_id is not null order by id desc limit 400",
    );
    for (const { hash } of blocks) {
      const reward = await peer.node.call('getBlockRewardInfo', { hash }).catch(() => undefined);
      const { block } = await client.get('/v1/blocks/{hash}', { params: { path: { hash } } });
      if (reward?.rewardAmount === undefined) continue;
      expect({ hash, reward: block.reward }).toEqual({ hash, reward: String(reward.rewardAmount) });
      rewarded += 1;
    }
    expect(rewarded).toBeGreaterThan(100);
    const { block: newest } = await client.get('/v1/blocks/{hash}', { params: { path: { hash: sink } } });
    expect(newest).toMatchObject({ reward: null, fees: null });
    const { block: ofSink } = await peer.node.call('getBlock', { hash: sink, includeTransactions: true });
    const { scriptPublicKey } = decodeCoinbasePayload(fromHex(ofSink?.transactions[0]?.payload as string));
    // Some blocks of the load name a script without an address.
    expect(newest.miner).toMatchObject({
      address: scriptToAddress(scriptPublicKey, 'kaspasim') ?? null,
      scriptPublicKey: toHex(scriptPublicKey.script),
    });
  },
);
