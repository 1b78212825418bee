/** Mutants of what is indexed: the indexer and derived state. */
import type { Mutant } from './mutant.ts';

const FRESH_INDEX = 'test/simulation/fresh-index-comparison.db.test.ts';
const ROLLUPS = 'test/simulation/rollups.db.test.ts';
const RETENTION = 'test/simulation/retention.db.test.ts';
const GENERATIONS = 'packages/indexer/src/apply/generations.db.test.ts';
const CUT_POINT = 'packages/indexer/src/retention/cut-point.db.test.ts';
const VARIANTS = 'test/simulation/transaction-variants.db.test.ts';
const CLUSTERS = 'test/simulation/clusters.db.test.ts';
const FIRST_CATCH_UP = 'test/simulation/atomic-batches.db.test.ts';

export const INDEX_MUTANTS: readonly Mutant[] = [
  // Source and prepare.
  {
    name: 'prepare-fee-ignores-the-last-output',
    file: 'packages/indexer/src/prepare/resolve.ts',
    find: '    delta.received += amount;',
    replace: '    delta.received = amount;',
    tests: [FRESH_INDEX],
  },
  {
    name: 'prepare-spends-keep-their-utxo-count',
    file: 'packages/indexer/src/prepare/resolve.ts',
    find: '    delta.utxoCount -= 1;',
    replace: '    delta.utxoCount -= 0;',
    tests: [FRESH_INDEX],
  },
  {
    name: 'prepare-reds-are-blue',
    file: 'packages/indexer/src/prepare/preparer.ts',
    find: 'merged.isBlue = !reds.has(toHex(merged.block.hash));',
    replace: 'merged.isBlue = true;',
    tests: [FRESH_INDEX],
  },
  {
    name: 'prepare-chain-time-follows-each-block',
    file: 'packages/indexer/src/prepare/preparer.ts',
    find: 'if (timestamp > chainTime) chainTime = timestamp;',
    replace: 'chainTime = timestamp;',
    tests: [FRESH_INDEX, ROLLUPS],
  },
  {
    name: 'prepare-accepts-the-first-variant-of-an-id',
    file: 'packages/indexer/src/prepare/preparer.ts',
    find: 'else if (other.variant !== transaction.variant) {',
    replace: 'else if (other.variant === -1) {',
    tests: [VARIANTS],
  },
  {
    name: 'prepare-forgets-transactions-of-unmerged-blocks',
    file: 'packages/indexer/src/prepare/preparer.ts',
    find: 'seen.rows.unmerged_touches.write({ block_id: block, script_ids: scripts });',
    replace: 'seen.rows.unmerged_touches.write({ block_id: block, script_ids: [] });',
    tests: [FRESH_INDEX, 'test/api/unmerged-transactions.db.test.ts'],
  },
  {
    name: 'prepare-keeps-removed-blocks-for-too-few-chain-blocks',
    file: 'packages/indexer/src/prepare/preparer.ts',
    find: 'return 2 * Number(finalityDepth > ofNetwork ? finalityDepth : ofNetwork);',
    replace: 'return 2;',
    tests: ['test/simulation/removed-chain-blocks.db.test.ts'],
  },
  // Apply.
  {
    name: 'apply-merges-rows-of-earlier-batches-never',
    file: 'packages/indexer/src/apply/apply.ts',
    find: '...(mergedBefore.length > 0 ? [merge] : []),',
    replace: '',
    tests: [FRESH_INDEX],
  },
  {
    name: 'apply-marks-no-chain-block-of-an-earlier-batch',
    file: 'packages/indexer/src/apply/apply.ts',
    find: '...(chainBefore.length > 0 ? [addToChain] : []),',
    replace: '',
    tests: [FRESH_INDEX],
  },
  {
    name: 'apply-accepts-without-the-variant',
    file: 'packages/indexer/src/apply/apply.ts',
    find: 'set accepting_index = accepted.chain_index, accepted_variant = accepted.variant,',
    replace: 'set accepting_index = accepted.chain_index,',
    tests: [FRESH_INDEX, VARIANTS],
  },
  {
    name: 'apply-does-not-check-the-checkpoint',
    file: 'packages/indexer/src/apply/apply.ts',
    find: 'if (found.blockId !== from.blockId || found.chainIndex !== from.chainIndex) {',
    replace: 'if (found.blockId < 0) {',
    tests: [FIRST_CATCH_UP],
  },
  {
    name: 'apply-counts-long-unmerged-blocks-twice',
    file: 'packages/indexer/src/apply/apply.ts',
    find: "text: 'delete from unmerged_touches where block_id = any($1::bigint[]) or block_id < $2 returning script_ids',",
    replace: "text: 'select script_ids from unmerged_touches where block_id = any($1::bigint[]) or block_id < $2',",
    tests: [FRESH_INDEX],
  },
  {
    name: 'apply-supply-ignores-the-batch',
    file: 'packages/indexer/src/apply/checkpoint.ts',
    find: 'circulating_sompi = checkpoint.circulating_sompi + excluded.circulating_sompi,',
    replace: 'circulating_sompi = checkpoint.circulating_sompi,',
    tests: [FRESH_INDEX],
  },
  // Revert.
  {
    name: 'revert-leaves-acceptance',
    file: 'packages/indexer/src/apply/reorg.ts',
    find: 'set accepting_index = null, accepted_variant = null\n                where id = any($1::bigint[]) and id <> all($2::bigint[])',
    replace:
      'set accepting_index = null, accepted_variant = null\n                where false and id = any($1::bigint[]) and id <> all($2::bigint[])',
    tests: [FRESH_INDEX, 'test/simulation/shallow-reorgs.test.ts'],
  },
  {
    name: 'revert-leaves-colours',
    file: 'packages/indexer/src/apply/reorg.ts',
    find: 'set merging_block_id = null, is_blue = null',
    replace: 'set merging_block_id = null',
    tests: [FRESH_INDEX],
  },
  {
    name: 'revert-forgets-what-removed-blocks-had-accepted',
    file: 'packages/indexer/src/apply/reorg.ts',
    find: 'values: [removed.map(({ id }) => id)],',
    replace: 'values: [[]],',
    tests: ['test/simulation/removed-chain-blocks.db.test.ts'],
  },
  {
    name: 'revert-does-not-compare-removed-hashes',
    file: 'packages/indexer/src/apply/reorg.ts',
    find: 'if (found === undefined || Buffer.compare(found, hash) !== 0) {',
    replace: 'if (found === undefined) {',
    tests: ['packages/indexer/src/apply/reorg.db.test.ts'],
  },
  {
    name: 'revert-balances-keeps-received-counts',
    file: 'packages/state/src/balances/balance-deltas.ts',
    find: 'if (received > 0n) delta.receivingCount += sign;',
    replace: 'if (received > 0n) delta.receivingCount += 1;',
    tests: ['packages/state/src/balances/balance-deltas.test.ts', FRESH_INDEX],
  },
  {
    name: 'revert-utxos-restores-nothing-that-was-spent',
    file: 'packages/state/src/utxos/utxos.ts',
    find: 'for (const utxo of spent) if (!this.#spent.delete(utxo)) this.#created.add(utxo);',
    replace: 'for (const utxo of spent) this.#spent.delete(utxo);',
    tests: [FRESH_INDEX],
  },
  {
    name: 'revert-utxos-keeps-the-daa-score-of-the-removed-block',
    file: 'packages/state/src/utxos/utxos.ts',
    find: '() => acceptAgain(client, acceptedAgain),',
    replace: '',
    tests: [FRESH_INDEX],
  },
  {
    name: 'revert-hours-of-the-wrong-sign',
    file: 'packages/state/src/balances/hourly-changes/hourly-deltas.ts',
    find: 'BigInt(sign) * (received - sent)',
    replace: '(received - sent)',
    tests: ['packages/state/src/balances/hourly-changes/hourly-deltas.test.ts', FRESH_INDEX],
  },
  {
    name: 'revert-activity-forgets-the-first-time',
    file: 'packages/state/src/balances/script-activity/replay.ts',
    find: 'first: now.get(script)?.first ?? null, last, touched: last',
    replace: 'first: last, last, touched: last',
    tests: ['packages/state/src/balances/script-activity/replay.test.ts', ROLLUPS],
  },
  {
    name: 'revert-intervals-keeps-empty-ones',
    file: 'packages/state/src/network-intervals/network-intervals.ts',
    find: 'if (removed.length === 0) return;',
    replace: 'if (removed.length >= 0) return;',
    tests: [ROLLUPS, FRESH_INDEX],
  },
  {
    name: 'revert-miner-hours-keeps-removed-blocks',
    file: 'packages/state/src/miner-hours/miner-hours.ts',
    find: 'changes.of(MinerHourChanges).removed = rows;',
    replace: 'changes.of(MinerHourChanges).removed = rows.slice(1);',
    tests: [FRESH_INDEX, ROLLUPS],
  },
  // Derived state.
  {
    name: 'hours-of-the-latest-change-are-lost',
    file: 'packages/state/src/balances/hourly-changes/hourly-deltas.ts',
    find: 'earlier.#change(script, before.hour, before.change);',
    replace: '',
    tests: ['packages/state/src/balances/hourly-changes/hourly-deltas.test.ts'],
  },
  {
    name: 'intervals-end-with-the-supply-of-the-sink',
    file: 'packages/state/src/network-intervals/interval-deltas.ts',
    find: 'if (delta.start < startOfInterval(delta.length, time)) delta.mintedLater += minted;',
    replace: '',
    tests: ['packages/state/src/network-intervals/interval-deltas.test.ts', ROLLUPS],
  },
  {
    name: 'activity-counts-a-script-in-an-interval-again',
    file: 'packages/state/src/balances/script-activity/replay.ts',
    find: 'touched < (starts[i] as bigint)',
    replace: 'touched <= (starts[i] as bigint)',
    tests: ['packages/state/src/balances/script-activity/replay.test.ts', ROLLUPS],
  },
  {
    name: 'balances-insert-without-the-tag-flag',
    file: 'packages/state/src/balances/write.ts',
    find: `exists (select from scripts s join tags t on t.address = s.address
                 where s.id = changed.script_id))`,
    replace: 'false)',
    tests: ['test/simulation/tags.db.test.ts'],
  },
  // First catch-up.
  {
    name: 'first-catch-up-accepts-spends-of-unknown-utxos',
    file: 'packages/indexer/src/prepare/preparer.ts',
    find: 'if (touched === undefined) checkInputs(acceptances, known);',
    replace: 'if (touched === undefined) void checkInputs;',
    tests: ['test/simulation/bad-node.db.test.ts'],
  },
  // Rebuild.
  {
    name: 'rebuild-balances-without-unaccepted-transactions',
    file: 'packages/state/src/balances/rebuild.ts',
    find: 'coalesce(r.accepted_count, 0) + coalesce(waiting.transaction_count, 0),',
    replace: 'coalesce(r.accepted_count, 0),',
    tests: [ROLLUPS, 'test/simulation/bootstraps.db.test.ts'],
  },
  {
    name: 'rebuild-utxos-counts-acceptance-before-the-bootstrap-block',
    file: 'packages/state/src/utxos/utxos.ts',
    find: 'where c.index > (select max(chain_index) from bootstrap_blocks)),',
    replace: 'where c.index >= 0),',
    tests: ['test/simulation/gaps.db.test.ts'],
  },
  // Retention.
  {
    name: 'retention-generation-boundary-is-off-by-one',
    file: 'packages/indexer/src/apply/generations.ts',
    find: 'firstIndex <= checkpoint.chainIndex + 1);',
    replace: 'firstIndex <= checkpoint.chainIndex);',
    tests: [GENERATIONS],
  },
  {
    name: 'retention-makes-the-next-generation-too-late',
    file: 'packages/indexer/src/apply/generations.ts',
    find: 'last.endIndex <= chainIndex; last = this.#last',
    replace: 'last.endIndex < chainIndex; last = this.#last',
    tests: [GENERATIONS],
  },
  {
    name: 'retention-does-not-wait-for-clustering',
    file: 'packages/indexer/src/retention/cut-point.ts',
    find: `
         and g.first_index <= clustering.chain_index`,
    replace: '',
    tests: [CUT_POINT],
  },
  {
    name: 'retention-cuts-younger-than-the-pruning-depth',
    file: 'packages/indexer/src/retention/cut-point.ts',
    find: "retention.kind === 'blue score' && retention.blueScore > pruningDepth ? retention.blueScore : pruningDepth,",
    replace: "retention.kind === 'blue score' ? retention.blueScore / 2n : 0n,",
    tests: [CUT_POINT],
  },
  {
    name: 'retention-forgets-spends-of-the-bootstrap-set',
    file: 'packages/indexer/src/retention/next-bootstrap.ts',
    find: 'select transaction_id, index, amount from of_bootstrap)',
    replace: 'select transaction_id, index, amount from of_bootstrap limit 1)',
    tests: [RETENTION],
  },
  {
    name: 'retention-keeps-the-first-block-s-accepted-list',
    file: 'packages/indexer/src/retention/cut.ts',
    find: "update chain_blocks set accepted_transactions = '{}' where index = $1",
    replace: 'update chain_blocks set accepted_transactions = accepted_transactions where index = $1',
    tests: [RETENTION],
  },
  // Clusters.
  {
    name: 'clusters-merge-the-larger-below-the-smaller',
    file: 'packages/state/src/clusters/forest.ts',
    find: 'const firstStays = first.size >= second.size;',
    replace: 'const firstStays = first.size < second.size;',
    tests: ['packages/state/src/clusters/forest.test.ts'],
  },
  {
    name: 'clusters-trust-partial-signatures',
    file: 'packages/state/src/clusters/common-inputs.ts',
    find: 'if (hasCovenant !== false || signatureScripts.some(hasPartialSignature)) return [];',
    replace: 'if (hasCovenant !== false) return [];',
    tests: ['packages/state/src/clusters/common-inputs.test.ts'],
  },
  {
    name: 'clusters-recognise-no-coinjoin',
    file: 'packages/state/src/clusters/common-inputs.ts',
    find: 'return isCollaborative(spending) ? [] : [...scripts];',
    replace: 'return [...scripts];',
    tests: ['packages/state/src/clusters/common-inputs.test.ts'],
  },
  {
    name: 'clusters-undo-only-what-is-above-the-fork-by-one',
    file: 'packages/state/src/clusters/undo.ts',
    find: 'const merges = rows.filter(({ chainIndex }) => chainIndex > to);',
    replace: 'const merges = rows.filter(({ chainIndex }) => chainIndex > to + 1n);',
    tests: [CLUSTERS],
  },
  {
    name: 'clusters-keep-their-balance',
    file: 'packages/state/src/clusters/clusters.ts',
    find: 'where c.id = changed.root_id and changed.balance <> 0',
    replace: 'where c.id = changed.root_id and changed.balance > 0',
    tests: [CLUSTERS, ROLLUPS],
  },
];
