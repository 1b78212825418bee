/**
 * Calls the functions of streams, webhooks, keys and reviews that send statements beside requests.
 */
import { readStep, requireStart, type StepRequest } from '@kasgres/chain-steps';
import {
  addUsage,
  approveCluster,
  createKey,
  findClusterTag,
  findKey,
  findKeyHashes,
  findOwnTag,
  hashKey,
  listClustersAtLimit,
  listKeys,
  listUsage,
  rejectHeldMerges,
  revokeKey,
} from '@kasgres/database';
import { findReplicaLag, isPreBootstrap, isStandby } from '@kasgres/reads';
import { WebhookStore } from '@kasgres/webhooks';
import { sql } from 'kysely';
import { findExampleRequests } from '../../packages/api/src/docs/live-examples.ts';
import { PostgresWindows } from '../../packages/api/src/limits/postgres-windows.ts';
import { PendingReads } from '../../packages/api/src/stream/pending-reads.ts';
import { WebhookQueue } from '../../packages/webhooks/src/queue.ts';
import { commit, UnknownCommitError } from '../../packages/database/src/connection/commit.ts';
import type { Fixture } from './fixture.ts';
import type { Recorder } from './recorder.ts';

export async function recordPrograms(fixture: Fixture, recorder: Recorder): Promise<void> {
  await recordState(fixture, recorder);
  await recordKeys(fixture, recorder);
  await recordClusters(fixture, recorder);
  await recordWebhooks(fixture, recorder);
  await recordStreams(fixture, recorder);
}

async function recordState({ services, api }: Fixture, recorder: Recorder): Promise<void> {
  await recorder.record('state/isStandby', '', () => isStandby(api.kysely));
  await recorder.record('state/findReplicaLag', '', () => findReplicaLag(api.kysely));
  await recorder.record('state/findExampleRequests', '', () => findExampleRequests(services));
  for (const [label, block] of Object.entries({ 'by hash': { hash: Buffer.alloc(32) }, 'by ids': { ids: [1n] } }))
    await recorder.record('state/isPreBootstrap', label, () => isPreBootstrap(api.kysely, block));
}

/** The commit fails, and it is not known why. */
async function failAtCommit(db: Parameters<Parameters<typeof commit>[1]>[0]): Promise<void> {
  await sql`create temporary table failing (number int unique deferrable initially deferred) on commit drop`.execute(
    db,
  );
  await sql`insert into failing values (1), (1)`.execute(db);
}

async function recordKeys({ api, database }: Fixture, recorder: Recorder): Promise<void> {
  const record = <T>(operation: string, run: () => Promise<T>) => recorder.record(`key/${operation}`, '', run);
  const db = database.kysely;
  const { id, key } = await record('createKey', () => createKey(db, { name: 'one' }));
  await record('findKey', () => findKey(db, hashKey(key)));
  await record('findKeyHashes', () => findKeyHashes(db, [id]));
  await record('listKeys', () => listKeys(db));
  await record('addUsage', () => addUsage(db, [{ apiKeyId: id, day: '2026-01-31', requests: 1, ru: 1 }]));
  const error = await commit(db, (transaction) => {
    recorder.pause();
    return failAtCommit(transaction);
  }).catch((reason: unknown) => reason);
  if (!(error instanceof UnknownCommitError)) throw error;
  await record('addUsage', error.hasCommitted);
  await record('listUsage', () => listUsage(db, id));
  await record('revokeKey', () => revokeKey(db, id));
  const windows = new PostgresWindows(api.pool, (error) => {
    throw error;
  });
  const limit = { hundredths: 100, seconds: 60 };
  await record('charge and refund', async () => {
    const { window } = await windows.charge('a bucket', limit, 1);
    windows.refund('a bucket', window, 1);
    // Waits for the refund.
    await windows.charge('another bucket', limit, 1);
  });
}

async function recordClusters({ database, landmarks }: Fixture, recorder: Recorder): Promise<void> {
  const db = database.kysely;
  const [member = ''] = landmarks.members;
  const record = <T>(operation: string, run: () => Promise<T>) => recorder.record(`cluster/${operation}`, '', run);
  await record('findOwnTag', () => findOwnTag(db, member));
  await record('findClusterTag', () => findClusterTag(db, member));
  await record('listClustersAtLimit', () => listClustersAtLimit(db));
  await record('approveCluster', () => approveCluster(db, member, undefined));
  await record('rejectHeldMerges', () => rejectHeldMerges(db, Buffer.alloc(32)));
}

async function recordWebhooks({ api, keyId, landmarks }: Fixture, recorder: Recorder): Promise<void> {
  const { removed: cursor } = landmarks;
  const [store, queue] = [new WebhookStore(api.kysely), new WebhookQueue(api.kysely)];
  const record = <T>(operation: string, run: () => Promise<T>, label = '') =>
    recorder.record(`webhook/${operation}`, label, run);
  const id = await record('createWebhook', () =>
    store.create({
      keyId,
      url: 'https://example.com',
      events: ['chain'],
      addresses: [''],
      covenants: [''],
      template: undefined,
      confirmations: undefined,
      withIds: true,
      cursor,
      secret: Buffer.alloc(32),
    }),
  );
  await record('listWebhooks', () => store.list(keyId));
  await record('getWebhook', () => store.list(keyId, id));
  const changes = { url: 'https://example.org', addresses: [''], covenants: [''], template: null, status: 'active' };
  for (const [name, value] of Object.entries(changes))
    await record('updateWebhook', () => store.update(keyId, id, () => ({ [name]: value })), name);
  await record('rotateWebhookSecret', () => store.rotate(keyId, id, Buffer.alloc(32)));
  await record('replayWebhook', () => store.replay(keyId, id, () => cursor));
  await record('testWebhook', () => store.test(keyId, id, () => '{}'));
  await record('listWebhookDeliveries', () => store.listDeliveries(keyId, id, 1));

  const [active] = await record('listActive', () => queue.listActive());
  const [tested] = await record('listTests', () => queue.listTests());
  if (active === undefined || tested === undefined) throw new Error('there is no active webhook');
  await record('listDefinitions', () => queue.listDefinitions([id]));
  const given = {
    webhookId: id,
    revision: active.revision,
    sequence: active.sequence,
    previous: cursor,
    cursor,
    body: '{}',
  };
  await record('addDeliveries', () => queue.addDeliveries([given]));
  const [{ deliveryId } = active] = await queue.listActive();
  const delivery = await record('findDelivery', () => queue.findDelivery(deliveryId ?? 0n));
  const test = await queue.findDelivery(tested.id);
  if (delivery === undefined || test === undefined) throw new Error('there is no delivery');
  const failed = { statusCode: 500, latencyMs: 1, error: 'failed', retryAfterMs: undefined };
  await record('finish', () => queue.finish(delivery, failed), 'after a failure');
  await record('finish', () => queue.finish(test, failed), 'after a failed test');
  await record('finish', () => queue.finish(delivery, { ...failed, error: null }), 'after a success');
  await record('moveCursors', () => queue.moveCursors([active], cursor, cursor));
  await record('limitPreviousSecrets', () => queue.limitPreviousSecrets());
  await record('count', () => queue.count());
  await record('disable', () => queue.disable(active, 'gone'));
  await record('deleteWebhook', () => store.delete(keyId, id));
}

async function recordStreams({ services, landmarks }: Fixture, recorder: Recorder): Promise<void> {
  const { index } = services;
  const { removed, blockHash: hash, addresses } = landmarks;
  const plain: StepRequest = { withIds: false, addresses: undefined, covenants: undefined, confirmations: [] };
  const STEPS: Record<string, Partial<StepRequest>> = {
    'only chain blocks': {},
    'with ids': { withIds: true },
    'with addresses': { addresses, confirmations: [10] },
    'with covenants': { covenants: { ids: ['ab'.repeat(32)], templates: ['cd'.repeat(32)] }, upTo: hash },
    'with new blocks': { blocksAfter: { last: 1n } },
    'with everything': { withIds: true, addresses: 'all', covenants: 'all', blocksAfter: { last: 1n } },
  };
  for (const [label, request] of Object.entries(STEPS))
    await recorder.record('stream/readStep', label, () => readStep(index, removed, { ...plain, ...request }, 'test'));
  await recorder.record('stream/requireStart', 'below the finality point', () =>
    index.read(async ({ state, ...reading }) => {
      const later = { ...state, sinkChainIndex: state.sinkChainIndex + state.network.finalityDepth * 2n };
      await requireStart({ ...reading, state: later }, Buffer.from(removed, 'hex'), true);
    }),
  );
  const pending = new PendingReads(index);
  const sample = await services.mempool.get();
  await recorder.record('stream/PendingReads', 'of the mempool', () => pending.readListed(sample, () => false));
  await recorder.record('stream/PendingReads', 'of unmerged blocks', () => pending.readUnmerged(() => false));
  await recorder.record('stream/PendingReads', 'that left', () => pending.listUnindexed(['ab'.repeat(32)]));
  await recorder.record('stream/PendingReads', 'accepted since', () => pending.listAccepted(['ab'.repeat(32)]));
}
