import { openSimulatedDag, makePast, DEFAULT_OPTIONS } from '/work/wt/sim/packages/devnet/src/index.ts';
import { rmSync, statSync } from 'node:fs';
const n = Number(process.argv[2]),
  p = Number(process.argv[3]);
rmSync('/tmp/regrow', { recursive: true, force: true });
let t = performance.now();
const w = openSimulatedDag({ options: DEFAULT_OPTIONS, dataDir: '/tmp/regrow', now: Date.now });
await makePast(w, { pastBlocks: n, pastTransactions: p, blocksPerSecond: 2 });
console.log(
  'grow',
  n,
  ((performance.now() - t) / 1000).toFixed(1),
  's',
  (statSync('/tmp/regrow/chain.journal').size / 1e6).toFixed(1),
  'MB',
  (process.memoryUsage.rss() / 1e6).toFixed(0),
  'MB rss',
);
w.close();
t = performance.now();
const w2 = openSimulatedDag({ options: DEFAULT_OPTIONS, dataDir: '/tmp/regrow', now: Date.now });
console.log('restore', ((performance.now() - t) / 1000).toFixed(1), 's', w2.node.dag.sink.hash);
