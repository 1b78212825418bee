/**
 * The first block of each network (rusty-kaspa, consensus/core/src/config/genesis.rs). Mainnet's
 * commits to the UTXO set of the chain that it replaced.
 */
import { ZERO_HASH } from './block-hash.ts';
import { encodeCoinbasePayload } from './coinbase-payload.ts';
import { fromHex } from './format.ts';
import type { Header, Transaction } from './model.ts';
import type { Network, NetworkId } from './networks.ts';
import { COINBASE_SUBNETWORK } from './transaction-id.ts';

export interface GenesisBlock {
  header: Header;
  /** A single coinbase without outputs. */
  transactions: Transaction[];
}

/** The fields in which genesis blocks differ, besides those in `Network`. */
interface GenesisFields {
  hashMerkleRoot: string;
  utxoCommitment: string;
  bits: number;
  nonce: bigint;
  /** At the end of the coinbase payload. */
  message: Uint8Array;
}

/** The MuHash of the empty UTXO set. */
export const EMPTY_UTXO_COMMITMENT = '544eb3142c000f0ad2c76ac41f4222abbababed830eeafee4b6dc56b52d5cac0';

const GENESIS_FIELDS: Readonly<Record<NetworkId, GenesisFields>> = {
  mainnet: {
    hashMerkleRoot: '8ec898568c6801d13df4ee6e2a1b54b7e6236f671f20954f05306410518eeb32',
    utxoCommitment: '710f27df423e63aa6cdb72b89ea5a06cffa399d66f167704455b5af59def8e20',
    bits: 0x1d02ca33,
    nonce: 0x3392cn,
    message: Buffer.concat([
      Buffer.from('ומה די עליך ועל אחיך ייטב בשאר כספא ודהבה למעבד כרעות אלהכם תעבדון'),
      // The hashes of a Bitcoin block and of the last block of the replaced chain.
      fromHex('0000000000000000000b1f8e1c17b0133d439174e52efbb0c41c3583a8aa66b0'),
      fromHex('0fca37ca667c2d550a6c4416dad9717e50927128c424fa4edbebc436ab13aeef'),
    ]),
  },
  'testnet-10': {
    hashMerkleRoot: '17341408a5724556504df4d6cf515cbfbb220430dc451c743c22d5e911720c2a',
    utxoCommitment: EMPTY_UTXO_COMMITMENT,
    bits: 0x1e7fffff,
    nonce: 0x14582n,
    message: Buffer.from('kaspa-testnet'),
  },
  simnet: {
    hashMerkleRoot: '1946d629f7e922a7bced59190521c3771f73d352ddbbb686564ad7fd56857c1b',
    utxoCommitment: EMPTY_UTXO_COMMITMENT,
    bits: 0x207fffff,
    nonce: 0x2n,
    message: Buffer.from('kaspa-simnet'),
  },
  devnet: {
    hashMerkleRoot: '58abf20321d70716162b6bf8d9f589ca33ae6e32b3b19abb7fa65d1141a3f94d',
    utxoCommitment: EMPTY_UTXO_COMMITMENT,
    bits: 0x1e21bc1c,
    nonce: 0x48e5en,
    message: Buffer.from('kaspa-devnet'),
  },
};

const OP_FALSE = 0x00;
const SUBSIDY = 100_000_000n;

/** Returns the genesis block of a network; its hash is `network.genesisHash`. */
export function genesisBlock(network: Network): GenesisBlock {
  const { hashMerkleRoot, utxoCommitment, bits, nonce, message } = GENESIS_FIELDS[network.id];
  const coinbase: Transaction = {
    version: 0,
    inputs: [],
    outputs: [],
    lockTime: 0n,
    subnetworkId: COINBASE_SUBNETWORK,
    gas: 0n,
    payload: encodeCoinbasePayload({
      blueScore: 0n,
      subsidy: SUBSIDY,
      scriptPublicKey: { version: 0, script: Uint8Array.of(OP_FALSE) },
      extraData: message,
    }),
    storageMass: 0n,
  };
  const header: Header = {
    version: 0,
    parentsByLevel: [],
    hashMerkleRoot: fromHex(hashMerkleRoot),
    acceptedIdMerkleRoot: ZERO_HASH,
    utxoCommitment: fromHex(utxoCommitment),
    timestamp: network.genesisTimestamp,
    bits,
    nonce,
    daaScore: network.genesisDaaScore,
    blueWork: 0n,
    blueScore: 0n,
    pruningPoint: ZERO_HASH,
  };
  return { header, transactions: [coinbase] };
}
