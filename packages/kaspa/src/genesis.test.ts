import { describe, expect, test } from 'vitest';
import { headerHash, merkleRoot } from './block-hash.ts';
import { decodeCoinbasePayload } from './coinbase-payload.ts';
import { genesisBlock } from './genesis.ts';
import { toHex } from './format.ts';
import { networks } from './networks.ts';
import { isCoinbase, transactionHash } from './transaction-id.ts';

describe.each(networks)('the genesis of $id', (network) => {
  const { header, transactions } = genesisBlock(network);

  test('has the hash of the network definition', () => {
    expect(toHex(headerHash(header))).toBe(toHex(network.genesisHash));
  });

  test('commits to its only coinbase', () => {
    expect(transactions).toHaveLength(1);
    expect(transactions.every(isCoinbase)).toBe(true);
    expect(toHex(merkleRoot(transactions.map(transactionHash)))).toBe(toHex(header.hashMerkleRoot));
  });

  test('has the expected fields', () => {
    const messages = transactions.map(({ payload }) =>
      Buffer.from(decodeCoinbasePayload(payload).extraData).toString(),
    );
    expect(messages.join()).toContain(network.id === 'mainnet' ? 'ומה די עליך' : `kaspa-${network.name}`);
  });
});
