/**
 * The UTXO set that a real node serves to peers matches the commitment in the header of its pruning
 * point.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromHex, getNetwork, MuHash, scriptToAddress, toHex, type Utxo } from '@kasgres/kaspa';
import { NodeClient, PruningPointMovedError, readUtxoSet } from '@kasgres/node';
import { findKaspad, Kaspad } from '../support/kaspad.ts';
import { Load } from './load/load.ts';
import { BLOCKS_UNTIL_PRUNED, SMALL_WARM_UP_BLOCKS, smallPruning, smallPruningLoad } from './pruning.ts';

const PAYMENTS_PER_BLOCK = 6;

describe.skipIf(findKaspad() === undefined)('the UTXO set at the pruning point', () => {
  let kaspad: Kaspad;
  let node: NodeClient;

  beforeAll(async () => {
    kaspad = await Kaspad.start({ overrides: smallPruning });
    node = new NodeClient({ url: kaspad.url });
    await node.waitUntilConnected();
    const load = await Load.begin(node, {
      seed: 'utxo set',
      paymentsPerBlock: PAYMENTS_PER_BLOCK,
      params: smallPruningLoad,
    });
    await load.warmUp(SMALL_WARM_UP_BLOCKS);
    await load.run({ blocks: BLOCKS_UNTIL_PRUNED });
  });

  afterAll(async () => {
    await node?.close();
    await kaspad?.stop();
  });

  test('matches the commitment in the header, and not with one altered UTXO', async () => {
    const { pruningPointHash } = await node.call('getBlockDagInfo', {});
    expect(pruningPointHash).not.toBe(toHex(getNetwork('simnet').genesisHash));
    const { block } = await node.call('getBlock', { hash: pruningPointHash, includeTransactions: false });
    const utxos = await readAll(pruningPointHash);
    // The set has several chunks and every kind of UTXO.
    expect(utxos.length).toBeGreaterThan(1_000);
    expect(utxos.some(({ isCoinbase }) => isCoinbase)).toBe(true);
    expect(utxos.some(({ isCoinbase }) => !isCoinbase)).toBe(true);
    expect(utxos.some(({ covenantId }) => covenantId !== undefined)).toBe(true);
    expect(utxos.some(({ scriptPublicKey }) => scriptToAddress(scriptPublicKey, 'kaspasim') === undefined)).toBe(true);
    expect(commitmentTo(utxos)).toBe(block?.header?.utxoCommitment);

    const at = Math.floor(utxos.length / 2);
    const altered = utxos.map((utxo, index) => (index === at ? { ...utxo, amount: utxo.amount - 1n } : utxo));
    expect(commitmentTo(altered)).not.toBe(block?.header?.utxoCommitment);
    expect(commitmentTo(utxos.toSpliced(at, 1))).not.toBe(block?.header?.utxoCommitment);
  });

  test('is refused for another block', async () => {
    const { sink } = await node.call('getSink', {});
    await expect(readAll(sink)).rejects.toThrow(PruningPointMovedError);
  });

  test('is refused for another network', async () => {
    const chunks = readUtxoSet({ url: kaspad.p2pUrl, network: 'mainnet', pruningPointHash: new Uint8Array(32) });
    await expect(chunks.next()).rejects.toThrow(/is of kaspa-simnet instead of kaspa-mainnet/);
  });

  async function readAll(pruningPointHash: string): Promise<Utxo[]> {
    const utxos: Utxo[] = [];
    const options = { url: kaspad.p2pUrl, network: 'simnet', pruningPointHash: fromHex(pruningPointHash) } as const;
    for await (const chunk of readUtxoSet(options)) utxos.push(...chunk.utxos);
    return utxos;
  }
});

function commitmentTo(utxos: readonly Utxo[]): string {
  const muhash = new MuHash();
  for (const utxo of utxos) muhash.add(utxo);
  return toHex(muhash.commitment());
}
