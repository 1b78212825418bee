/**
 * The rate at which the node client reads all blocks with their transactions from a real node: the transport alone, and with the
 * hot decoding; over one stream, and over several, each on its own connection.
 *
 *   node bench/node-client.ts grpc://127.0.0.1:16510 [streams] [rounds]
 */
import { checkNode, decodeBlocksResponse, NodeClient } from '@kasgres/node';
import { toHex } from '@kasgres/kaspa';

const [url = 'grpc://127.0.0.1:16510', ...numbers] = process.argv.slice(2);
const [maxStreams = 3, rounds = 3] = numbers.map(Number);

const client = new NodeClient({ url, streams: maxStreams, deadlineMs: 120_000 });
await client.waitUntilConnected();
const pages = await findPages();
const bodies = await readPages(1, (body) => Buffer.from(body));
const megabytes = bodies.reduce((sum, { length }) => sum + length, 0) / 1e6;
const decoded = bodies.map((body) => {
  const { blocks } = decodeBlocksResponse(body);
  return { blocks: blocks.length, transactions: blocks.reduce((sum, block) => sum + block.transactions.length, 0) };
});
const blocks = decoded.reduce((sum, page) => sum + page.blocks, 0);
const transactions = decoded.reduce((sum, page) => sum + page.transactions, 0);
console.log(`${pages.length} pages, ${blocks} blocks, ${transactions} transactions, ${megabytes.toFixed(1)} MB`);

for (let round = 1; round <= rounds; round++) {
  await measure('decoding alone', async () => {
    for (const body of bodies) decodeBlocksResponse(body);
  });
}
bodies.length = 0;
for (let streams = 1; streams <= maxStreams; streams++) {
  for (let round = 1; round <= rounds; round++) {
    await measure(`transport alone, ${streams} streams`, () => readPages(streams, ({ length }) => length));
    await measure(`transport and decoding, ${streams} streams`, () =>
      readPages(streams, (body) => decodeBlocksResponse(body).blocks.length),
    );
  }
}
await client.close();

/** Finds the block at which each getBlocks response starts: the last chain block of the previous response. */
async function findPages(): Promise<string[]> {
  const { network } = await checkNode(client);
  const onChain = new Set<string>();
  for (let low = network.genesisHash; ; ) {
    const { addedChainBlockHashes } = await client.getVirtualChainFromBlock({
      startHash: low,
      includeAcceptedTransactionIds: false,
    });
    const last = addedChainBlockHashes.at(-1);
    if (last === undefined) break;
    for (const hash of addedChainBlockHashes) onChain.add(toHex(hash));
    low = last;
  }
  const starts: string[] = [];
  for (let low = network.genesisHash; ; ) {
    const { blockHashes } = await client.getBlocks({ lowHash: low, includeBlocks: false, includeTransactions: false });
    const last = blockHashes.findLast((hash) => onChain.has(toHex(hash)));
    if (last === undefined || toHex(last) === toHex(low)) return starts;
    starts.push(toHex(low));
    low = last;
  }
}

/** Reads every page once, each stream one after another. */
async function readPages<T>(streams: number, use: (body: Uint8Array) => T): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const read = async (stream: number): Promise<void> => {
    while (next < pages.length) {
      const index = next++;
      const request = { lowHash: pages[index] as string, includeBlocks: true, includeTransactions: true };
      results[index] = await client.callRaw('getBlocks', request, use, { stream });
    }
  };
  await Promise.all(Array.from({ length: streams }, (_, stream) => read(stream)));
  return results;
}

async function measure(what: string, run: () => Promise<unknown>): Promise<void> {
  const cpuBefore = process.cpuUsage();
  const start = performance.now();
  await run();
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(cpuBefore);
  const rate = `${(megabytes / seconds).toFixed(1)} MB/s, ${Math.round(transactions / seconds)} transactions/s`;
  console.log(`${what}: ${seconds.toFixed(2)} s, ${rate}, ${((user + system) / 1e6).toFixed(2)} s of CPU`);
}
