/**
 * Makes `../recorded/recorded-chain.json.br` out of a recording of a real node: `node make-recorded-chain.ts RECORDING OUTPUT`. What
 * consensus does not look at is left out, above all signatures.
 */
import { createReadStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { brotliCompressSync, constants, createGunzip } from 'node:zlib';
import { at, type RecordedBlock, type RecordedChain, type RecordedTransaction } from './recorded-chain.ts';

interface OutputMessage {
  amount: string;
  scriptPublicKey: { scriptPublicKey: string };
  covenant?: { authorizingInput?: number; covenantId: string };
}

interface TransactionMessage {
  version?: number;
  inputs: { previousOutpoint: { transactionId: string; index?: number } }[];
  outputs: OutputMessage[];
  payload: string;
  verboseData: { transactionId: string; hash: string };
}

interface BlockMessage {
  header: {
    version?: number;
    parents?: { parentHashes: string[] }[];
    timestamp: string;
    bits: number;
    daaScore?: string;
    blueWork: string;
    blueScore?: string;
  };
  transactions: TransactionMessage[];
  verboseData: {
    hash: string;
    selectedParentHash: string;
    mergeSetBluesHashes?: string[];
    mergeSetRedsHashes?: string[];
  };
}

interface DagInfo {
  virtualParentHashes: string[];
  virtualDaaScore: string;
  pastMedianTime: string;
  sink: string;
}

interface Call {
  op: string;
  cp: string;
  request: { includeTransactions?: boolean; includeAcceptedTransactionIds?: boolean };
  response: {
    error?: unknown;
    blocks: BlockMessage[];
    acceptedTransactionIds: { acceptingBlockHash: string; acceptedTransactionIds?: string[] }[];
    circulatingSompi: string;
  } & DagInfo;
}

/** The relevant messages of the recording. */
interface Heard {
  genesis: string;
  blocks: Map<string, BlockMessage>;
  checkpoints: { name: string; blocks: Set<string>; info: DagInfo }[];
  accepted: Map<string, string[]>;
  supply: string;
}

async function listen(path: string): Promise<Heard> {
  const heard: Heard = { genesis: '', blocks: new Map(), checkpoints: [], accepted: new Map(), supply: '0' };
  for await (const line of createInterface({ input: createReadStream(path).pipe(createGunzip()) })) {
    const { op, cp, request, response } = JSON.parse(line) as Call;
    if (op === 'checkpoint' || response.error !== undefined) continue;
    if (op === 'getBlocks' && request.includeTransactions) {
      for (const block of response.blocks) heard.blocks.set(block.verboseData.hash, block);
    }
    if (op === 'getBlockDagInfo') {
      if (heard.genesis === '') heard.genesis = response.sink;
      heard.checkpoints.push({ name: cp, blocks: new Set(), info: response });
    }
    if (op === 'getCoinSupply') heard.supply = response.circulatingSompi;
    if (op === 'getVirtualChainFromBlock' && request.includeAcceptedTransactionIds) {
      for (const { acceptingBlockHash, acceptedTransactionIds = [] } of response.acceptedTransactionIds) {
        heard.accepted.set(acceptingBlockHash, acceptedTransactionIds);
      }
    }
    for (const hash of heard.blocks.keys()) heard.checkpoints.at(-1)?.blocks.add(hash);
  }
  return heard;
}

function inShort({ genesis, blocks, checkpoints, accepted, supply }: Heard): RecordedChain {
  const order = new Numbers();
  const known: RecordedChain['checkpoints'] = [];
  for (const { name, blocks: hashes, info } of checkpoints) {
    for (const hash of [genesis, ...hashes]) addParentsFirst(hash, blocks, order);
    known.push({
      name,
      blocks: order.size,
      sink: order.get(info.sink),
      parents: info.virtualParentHashes.map((hash) => order.get(hash)),
      daaScore: Number(info.virtualDaaScore),
      pastMedianTime: Number(info.pastMedianTime),
    });
  }
  const messages = order.names().map((hash) => getBlock(blocks, hash));
  const scripts = new Numbers();
  const { numbers, bodies } = numberTransactions(messages);
  const sink = at(known, known.length - 1).sink;
  return {
    coinbaseMaturity: 100,
    transactions: bodies.map((body) => transactionInShort(body, numbers, scripts)),
    scripts: scripts.names(),
    blocks: messages.map((message) => blockInShort(message, order, numbers)),
    checkpoints: known,
    chain: chainTo(order.names()[sink] ?? '', blocks, genesis).map((hash) => ({
      block: order.get(hash),
      accepted: (accepted.get(hash) ?? []).map((id) => numbers.get(id)),
    })),
    supply: Number(supply),
  };
}

/** Names in the order of their first appearance. */
class Numbers {
  private readonly numbers = new Map<string, number>();

  get size(): number {
    return this.numbers.size;
  }

  add(name: string): number {
    const number = this.numbers.get(name) ?? this.numbers.size;
    this.numbers.set(name, number);
    return number;
  }

  has(name: string): boolean {
    return this.numbers.has(name);
  }

  get(name: string): number {
    const number = this.numbers.get(name);
    if (number === undefined) throw new Error(`the recording does not hold ${name}`);
    return number;
  }

  names(): string[] {
    return [...this.numbers.keys()];
  }
}

function addParentsFirst(hash: string, blocks: Map<string, BlockMessage>, order: Numbers): void {
  if (order.has(hash)) return;
  for (const parent of parentsOf(getBlock(blocks, hash))) addParentsFirst(parent, blocks, order);
  order.add(hash);
}

function parentsOf({ header }: BlockMessage): string[] {
  return header.parents?.[0]?.parentHashes ?? [];
}

function getBlock(blocks: Map<string, BlockMessage>, hash: string): BlockMessage {
  const block = blocks.get(hash);
  if (block === undefined) throw new Error(`the recording does not hold block ${hash}`);
  return block;
}

/** Numbers transactions by id, each behind those that it spends. Every id of the recording has one variant. */
function numberTransactions(blocks: BlockMessage[]): { numbers: Numbers; bodies: TransactionMessage[] } {
  const byId = new Map<string, TransactionMessage>();
  for (const { transactions } of blocks) {
    for (const transaction of transactions) byId.set(transaction.verboseData.transactionId, transaction);
  }
  const numbers = new Numbers();
  const bodies: TransactionMessage[] = [];
  const add = (id: string): void => {
    const transaction = byId.get(id);
    if (transaction === undefined || numbers.has(id)) return;
    for (const { previousOutpoint } of transaction.inputs) add(previousOutpoint.transactionId);
    numbers.add(id);
    bodies.push(transaction);
  };
  for (const id of byId.keys()) add(id);
  return { numbers, bodies };
}

function transactionInShort(
  { version = 0, inputs, outputs, payload }: TransactionMessage,
  numbers: Numbers,
  scripts: Numbers,
): RecordedTransaction {
  return {
    version,
    inputs: inputs.map(({ previousOutpoint: { transactionId, index = 0 } }) => [numbers.get(transactionId), index]),
    outputs: outputs.map((output) => outputInShort(output, scripts)),
    payload,
  };
}

function outputInShort(
  { amount, scriptPublicKey, covenant }: OutputMessage,
  scripts: Numbers,
): RecordedTransaction['outputs'][number] {
  const script = scripts.add(scriptPublicKey.scriptPublicKey);
  if (covenant === undefined) return [Number(amount), script];
  return [
    Number(amount),
    script,
    { authorizingInput: covenant.authorizingInput ?? 0, covenantId: covenant.covenantId },
  ];
}

function blockInShort(message: BlockMessage, blocks: Numbers, transactions: Numbers): RecordedBlock {
  const { header, verboseData } = message;
  const parents = parentsOf(message);
  return {
    hash: verboseData.hash,
    version: header.version ?? 0,
    parents: parents.map((hash) => blocks.get(hash)),
    timestamp: Number(header.timestamp),
    bits: header.bits,
    daaScore: Number(header.daaScore ?? 0),
    blueScore: Number(header.blueScore ?? 0),
    blueWork: Number.parseInt(header.blueWork || '0', 16),
    transactions: message.transactions.map((transaction) => transactions.get(transaction.verboseData.transactionId)),
    ...(parents.length > 0 && { selectedParent: blocks.get(verboseData.selectedParentHash) }),
    mergeSetBlues: (verboseData.mergeSetBluesHashes ?? []).map((hash) => blocks.get(hash)),
    mergeSetReds: (verboseData.mergeSetRedsHashes ?? []).map((hash) => blocks.get(hash)),
  };
}

/** From the first block above genesis up. */
function chainTo(sink: string, blocks: Map<string, BlockMessage>, genesis: string): string[] {
  const hashes: string[] = [];
  for (let hash = sink; hash !== genesis; hash = getBlock(blocks, hash).verboseData.selectedParentHash)
    hashes.push(hash);
  return hashes.reverse();
}

const [, , recording, output] = process.argv;
if (recording === undefined || output === undefined) throw new Error('usage: make-recorded-chain.ts RECORDING OUTPUT');
const chain = inShort(await listen(join(recording, 'calls.jsonl.gz')));
const parameters = { [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS };
writeFileSync(output, brotliCompressSync(JSON.stringify(chain), { params: parameters }));
