/** Everything about Kaspa that needs no I/O: the model of blocks and transactions, hashes, addresses, scripts, networks. */
export * from './address.ts';
export { formatKas, MAX_SOMPI, SOMPI_PER_KAS } from './amounts.ts';
export { HASH_BYTES, headerHash, merkleRoot, ZERO_HASH } from './block-hash.ts';
export {
  type CoinbasePayload,
  CoinbasePayloadError,
  decodeCoinbasePayload,
  encodeCoinbasePayload,
} from './coinbase-payload.ts';
export { estimateTimestamp, type Pace, spreadDaaScores } from './daa-timestamp.ts';
export { difficultyFromBits, formatBlueWork, parseBlueWork, targetFromBits, workFromBits } from './difficulty.ts';
export { type GenesisBlock, genesisBlock } from './genesis.ts';
export { type HashRateWindow, networkHashesPerSecond } from './hash-rate.ts';
export { fromHex, HexError, toHex } from './hex.ts';
export { computeMass, storageMass, transientMass } from './mass.ts';
export type * from './model.ts';
export { MuHash } from './muhash.ts';
export {
  type Crescendo,
  type DaaTimestamp,
  findNetwork,
  getNetwork,
  type Network,
  type NetworkId,
  networks,
} from './networks.ts';
export { addressToScript, classifyScript, type ScriptType, scriptToAddress } from './script.ts';
export {
  COINBASE_SUBNETWORK,
  isCoinbase,
  NATIVE_SUBNETWORK,
  SUBNETWORK_ID_BYTES,
  transactionHash,
  transactionHashBeforeCrescendo,
  transactionId,
} from './transaction-id.ts';
