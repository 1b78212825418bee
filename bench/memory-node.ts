/** The node of bench/memory.ts, as a process of its own: `node bench/memory-node.ts <blocks> <filling>` sends its URL to its parent. */
import { NodeServer } from '@kasgres/devnet';
import { type Filling, LargeChain } from './memory-chain.ts';

const [blocks, filling] = process.argv.slice(2) as [string, Filling];
const { url } = await NodeServer.start({ state: new LargeChain(Number(blocks), filling) });
process.send?.(url);
process.once('disconnect', () => process.exit());
