/** Mutants of the API and of webhooks. */
import type { Mutant } from './mutant.ts';

const STREAM = 'test/api/stream.db.test.ts';
const STEPS = 'packages/chain-steps/src/read-step.db.test.ts';
const WEBHOOKS = 'test/api/webhooks.db.test.ts';
const ENDPOINTS = 'test/api/endpoints.db.test.ts';

export const API_MUTANTS: readonly Mutant[] = [
  // Streams.
  {
    name: 'commits-notify-nobody',
    file: 'packages/indexer/src/apply/commit-notices.ts',
    find: '    if (!this.#isSending) void this.#sendDue();',
    replace: '',
    tests: ['test/simulation/commit-notices.db.test.ts'],
  },
  {
    name: 'stream-pending-amounts-are-collected-again',
    file: 'packages/api/src/stream/pending-moves.ts',
    find: 'this.#collect(id, isAdded.has(id) ? this.#watched : fresh);',
    replace: 'this.#collect(id, this.#watched);',
    tests: ['packages/api/src/stream/pending-moves.test.ts'],
  },
  {
    name: 'stream-paged-reorganisation-confirms-off-the-chain',
    file: 'packages/chain-steps/src/step-statement.ts',
    find: 'where index is not null and blue_score >= c.blue_score + wanted.confirmations',
    replace: 'where blue_score >= c.blue_score + wanted.confirmations',
    tests: [STEPS],
  },
  {
    name: 'stream-confirms-one-block-late',
    file: 'packages/chain-steps/src/step-statement.ts',
    find: 'b.blue_score > least(fork.start_blue_score - wanted.confirmations, fork.blue_score)',
    replace: 'b.blue_score > least(fork.start_blue_score - wanted.confirmations + 1, fork.blue_score)',
    tests: [STEPS],
  },
  {
    name: 'stream-step-has-one-transaction-too-many',
    file: 'packages/chain-steps/src/step-statement.ts',
    find: 'where n = 1 or transactions <= ${maxTransactions}`;',
    replace: 'where n = 1 or transactions <= ${maxTransactions} + 1`;',
    tests: [STEPS],
  },
  {
    name: 'stream-shared-step-is-cut-by-changes',
    file: 'packages/chain-steps/src/read-step.ts',
    find: "const isForAll = addresses === 'all' || covenants === 'all';",
    replace: 'const isForAll = false;',
    tests: [STEPS],
  },
  {
    name: 'stream-gives-every-message-an-id',
    file: 'packages/chain-steps/src/messages.ts',
    find: 'const id = isLast ? step.to : undefined;',
    replace: 'const id = step.to;',
    tests: ['packages/chain-steps/src/messages.test.ts'],
  },
  {
    name: 'stream-shows-balances-while-it-catches-up',
    file: 'packages/chain-steps/src/messages.ts',
    find: 'balance: step.hasBalances ? balance : null,',
    replace: 'balance,',
    tests: ['packages/chain-steps/src/messages.test.ts', STREAM],
  },
  {
    name: 'stream-sends-a-field-without-a-schema',
    file: 'packages/chain-steps/src/messages.ts',
    find: 'isCaughtUp: step.isCaughtUp,',
    replace: 'isCaughtUp: step.isCaughtUp, blueScore: Number(step.blueScore),',
    tests: [STREAM, WEBHOOKS],
  },
  {
    name: 'stream-crosses-a-gap',
    file: 'packages/chain-steps/src/step-statement.ts',
    find: 'least(index + ${sql.lit(MAX_CHAIN_BLOCKS)}, gap, up_to)',
    replace: 'least(index + ${sql.lit(MAX_CHAIN_BLOCKS)}, up_to)',
    tests: [STEPS],
  },
  {
    name: 'stream-does-not-skip-a-changed-subscription',
    file: 'packages/api/src/stream/subscriber.ts',
    find: 'else if (revision === this.#revision) this.send(this.#advance(step));',
    replace: 'else this.send(this.#advance(step));',
    tests: ['packages/api/src/stream/subscriber.test.ts'],
  },
  {
    name: 'stream-covenant-event-has-only-the-template-that-it-reveals',
    file: 'packages/chain-steps/src/covenant-changes.ts',
    find: 'where id = coalesce(added.template_id, added.previous_template_id) limit 1',
    replace: 'where id = added.template_id limit 1',
    tests: ['test/api/stream-covenants.db.test.ts'],
  },
  {
    name: 'reorg-forgets-what-removed-blocks-did-to-covenants',
    file: 'packages/indexer/src/apply/reorg.ts',
    find: 'where e.chain_index = c.index)',
    replace: 'where e.chain_index = c.index and false)',
    tests: ['test/api/stream-covenants.db.test.ts'],
  },
  // Webhooks.
  {
    name: 'webhook-cursor-moves-on-a-failed-delivery',
    file: 'packages/webhooks/src/queue.ts',
    find: 'if (locked[0]?.revision !== delivery.revision) return null;',
    replace: 'if (locked[0]?.revision !== delivery.revision) return null;\n        await this.#advance(db, delivery);',
    tests: ['packages/webhooks/src/queue.db.test.ts', WEBHOOKS],
  },
  {
    name: 'webhook-retries-without-a-growing-pause',
    file: 'packages/webhooks/src/queue.ts',
    find: 'FIRST_RETRY_MS * 2 ** (failures - 1)',
    replace: 'FIRST_RETRY_MS',
    tests: ['packages/webhooks/src/webhooks.test.ts', 'packages/webhooks/src/queue.db.test.ts'],
  },
  // Limits.
  {
    name: 'limits-charge-one-request-too-many',
    file: 'packages/api/src/limits/windows.ts',
    find: 'const charged = window.spent + cost <= limit.hundredths;',
    replace: 'const charged = window.spent <= limit.hundredths;',
    tests: ['packages/api/src/limits/windows.test.ts', 'packages/api/src/limits/limits.test.ts'],
  },
  {
    name: 'limits-refund-a-closed-window',
    file: 'packages/api/src/limits/windows.ts',
    find: 'if (current?.endsAt === window) current.spent -= cost;',
    replace: 'if (current !== undefined) current.spent -= cost;',
    tests: ['packages/api/src/limits/windows.test.ts'],
  },
  {
    name: 'limits-leak-requests-in-flight',
    file: 'packages/api/src/limits/limits.ts',
    find: 'if (verdict.refusal !== undefined) this.release(bucket);',
    replace: '',
    tests: ['packages/api/src/limits/limits.test.ts'],
  },
  {
    name: 'limits-keep-the-first-charge-of-a-refused-request',
    file: 'packages/api/src/limits/limits.ts',
    find: 'this.#windows.refund(bucket.name, first.window, toHundredths(first.ru));',
    replace: '',
    tests: ['packages/api/src/limits/limits.test.ts'],
  },
  {
    name: 'limits-of-workers-are-counted-in-memory',
    file: 'packages/api/src/limits/open-admission.ts',
    find: "env.RATE_LIMIT_STORE === 'postgres' || env.API_WORKERS > 1",
    replace: "env.RATE_LIMIT_STORE === 'postgres'",
    tests: ['test/api/workers.db.test.ts'],
  },
  {
    name: 'limits-scan-their-table',
    file: 'packages/api/src/limits/connections.ts',
    find: ", enable_seqscan: 'off'",
    replace: '',
    tests: ['test/api/rate-limit-windows.db.test.ts'],
  },
  // Statements of the API.
  {
    name: 'read-state-goes-backwards',
    file: 'packages/reads/src/index-state/latest-state.ts',
    find: 'if (isNewer) this.#state = state;',
    replace: 'this.#state = state;',
    tests: ['packages/reads/src/index-state/latest-state.test.ts'],
  },
  {
    name: 'read-page-repeats-its-cursor',
    file: 'packages/api/src/pages/key-page.ts',
    find: '${isBackward ? sql`>` : sql`<`} (select key from cursor)',
    replace: '${isBackward ? sql`>=` : sql`<=`} (select key from cursor)',
    tests: ['test/api/walks.db.test.ts'],
  },
  {
    name: 'read-page-always-has-more',
    file: 'packages/api/src/pages/key-page.ts',
    find: "'hasMore', found > shown",
    replace: "'hasMore', found >= shown",
    tests: ['test/api/walks.db.test.ts'],
  },
  {
    name: 'read-page-skips-a-row-behind-its-filter',
    file: 'packages/api/src/pages/key-page.ts',
    find: 'offset ${sql.lit(MAX_EXAMINED - 1)}',
    replace: 'offset ${sql.lit(MAX_EXAMINED)}',
    tests: ['test/plans/plans.db.test.ts'],
  },
  {
    name: 'read-utxo-page-skips-the-script-of-the-cursor',
    file: 'packages/api/src/resources/addresses/utxos.ts',
    find: '[behind, within, order] = isBackward ? [sql`>`, sql`<=`, sql`asc`]',
    replace: '[behind, within, order] = isBackward ? [sql`>`, sql`>=`, sql`asc`]',
    tests: ['test/api/address-utxos.db.test.ts'],
  },
  {
    name: 'read-acceptance-confirms-one-too-few',
    file: 'packages/api/src/resources/transactions/acceptance.ts',
    find: 'when accepting.index is not null then ${sinkBlueScore} - accepting.blue_score',
    replace: 'when accepting.index is not null then ${sinkBlueScore} - accepting.blue_score - 1',
    tests: [ENDPOINTS],
  },
  {
    name: 'read-virtual-chain-crosses-a-gap',
    file: 'packages/api/src/resources/chain/virtual-chain.ts',
    find: '${gap ? sql`and c.index <= ${gap.after.index}` : sql``}',
    replace: '',
    tests: ['test/api/gaps.db.test.ts'],
  },
  {
    name: 'read-blocks-repeats-the-low-block-s-past',
    file: 'packages/api/src/resources/blocks/get-blocks.ts',
    find: 'ids.push(...merge_set.filter((id) => !excluded.has(id)));',
    replace: 'ids.push(...merge_set.filter((id) => id !== startId));',
    tests: [ENDPOINTS, 'test/recording/index-and-api.db.test.ts'],
  },
  {
    name: 'read-blocks-orders-a-mergeset-by-hash',
    file: 'packages/api/src/resources/blocks/get-blocks.ts',
    find: 'order by m.id = b.selected_parent_id desc, m.blue_work, m.hash)',
    replace: 'order by m.id = b.selected_parent_id desc, m.hash)',
    tests: [ENDPOINTS, 'test/recording/index-and-api.db.test.ts'],
  },
];
