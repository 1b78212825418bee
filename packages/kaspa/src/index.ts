/**
 * Pure protocol code: the model of blocks and transactions, hashes, addresses, scripts, networks.
 */
export {
  ADDRESS_PREFIXES,
  AddressError,
  type AddressPrefix,
  decodeAddress,
  encodeAddress,
} from './address.ts';
export { HASH_BYTES, headerHash, merkleRoot, ZERO_HASH } from './block-hash.ts';
export {
  type CoinbasePayload,
  CoinbasePayloadError,
  decodeCoinbasePayload,
  encodeCoinbasePayload,
} from './coinbase-payload.ts';
export { checkCovenants, type CovenantError, covenantId } from './covenants.ts';
export { estimateTimestamp, type Pace, spreadDaaScores } from './daa-timestamp.ts';
export { type Subsidy, subsidyAt } from './emission.ts';
export { formatKas, fromHex, HexError, MAX_SOMPI, SOMPI_PER_KAS, toHex } from './format.ts';
export { EMPTY_UTXO_COMMITMENT, type GenesisBlock, genesisBlock } from './genesis.ts';
export { blake2b256, blake3 } from './keyed-hash.ts';
export {
  computeMass,
  normalizedMass,
  type ScriptTotals,
  storageMass,
  transientMass,
  transientMassFrom,
} from './mass.ts';
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
export {
  difficultyFromBits,
  formatBlueWork,
  type HashRateWindow,
  networkHashesPerSecond,
  parseBlueWork,
  targetFromBits,
  workFromBits,
} from './proof-of-work.ts';
export { addressToScript, classifyScript, type ScriptType, scriptToAddress } from './script.ts';
export { classifySubnetwork, LANE_NAMESPACE_BYTES, laneNamespace, type SubnetworkKind } from './subnetwork.ts';
export {
  COINBASE_SUBNETWORK,
  isCoinbase,
  NATIVE_SUBNETWORK,
  SUBNETWORK_ID_BYTES,
  transactionHash,
  transactionHashBeforeCrescendo,
  transactionId,
} from './transaction-id.ts';
