/**
 * Subnetwork ids and user lanes (KIP-21; rusty-kaspa, consensus/core/src/subnets.rs, and
 * `check_transaction_subnetwork` of
 * consensus/src/processes/transaction_validator/tx_validation_in_isolation.rs).
 */
import { SUBNETWORK_ID_BYTES } from './transaction-id.ts';

/** The number of bytes before the zeros in the subnetwork id of a user lane. */
export const LANE_NAMESPACE_BYTES = 4;

/** `reserved` ids are a byte and zeros; no transaction may have them or `invalid` ones. */
export type SubnetworkKind = 'native' | 'coinbase' | 'lane' | 'reserved' | 'invalid';

export function classifySubnetwork(id: Uint8Array): SubnetworkKind {
  if (id.length !== SUBNETWORK_ID_BYTES || !isZero(id, LANE_NAMESPACE_BYTES)) return 'invalid';
  if (!isZero(id, 1)) return 'lane';
  if (id[0] === 0) return 'native';
  return id[0] === 1 ? 'coinbase' : 'reserved';
}

/**
 * Returns the namespace of a user lane; undefined for any other id. A namespace has a byte other
 * than zero after the first one, since its id would be a reserved one otherwise.
 */
export function laneNamespace(id: Uint8Array): Uint8Array | undefined {
  return classifySubnetwork(id) === 'lane' ? id.subarray(0, LANE_NAMESPACE_BYTES) : undefined;
}

function isZero(bytes: Uint8Array, from: number): boolean {
  return bytes.subarray(from).every((byte) => byte === 0);
}
