/** User lanes (KIP-21): their namespaces, and what listings show of them. */
import { LANE_NAMESPACE_BYTES, SUBNETWORK_ID_BYTES, toHex } from '@kasgres/kaspa';
import { count, decimal, jsonObject, notFound, type ParameterOf, sompi, timestamp } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';

const NAMESPACE = /^(?:0x)?[0-9a-fA-F]{8}$/;

/** A namespace in a request; becomes the subnetwork id. */
export const namespaceInput = z
  .string()
  .regex(NAMESPACE, 'must be 8 hex digits, with or without 0x')
  .transform(subnetworkOf)
  .meta({ description: '8 hex digits of either case, with or without `0x`' });

export function subnetworkOf(namespace: string): Uint8Array {
  const digits = namespace.slice(-2 * LANE_NAMESPACE_BYTES);
  return Buffer.from(digits.padEnd(2 * SUBNETWORK_ID_BYTES, '0'), 'hex');
}

export const isNamespace = (text: string): boolean => NAMESPACE.test(text);

export const lane = z
  .object({
    namespace: z
      .string()
      .regex(/^[0-9a-f]{8}$/)
      .meta({ description: 'The first four bytes of the subnetwork id, hex; the others are zero' }),
    transactionCount: count.meta({ description: 'Accepted transactions' }),
    gas: decimal.meta({ description: 'Sum of the gas that they commit to' }),
    fees: sompi,
    firstSeen: timestamp.meta({ description: 'Time of the chain when it accepted the first of them' }),
    lastSeen: timestamp.meta({ description: 'The same of the last one' }),
  })
  .meta({ id: 'Lane' });

export type LaneJson = z.infer<typeof lane>;

export interface LaneParameters {
  subnetwork: Uint8Array;
}

/** Selects the key of a lane that an accepted transaction is in; null of any other. */
export const laneKeyOf = (parameter: ParameterOf<LaneParameters>): RawBuilder<number | null> => sql`(
  select lanes.subnetwork_id from lanes join subnetworks on subnetworks.id = lanes.subnetwork_id
  where subnetworks.subnetwork_id = ${parameter('subnetwork', 'bytea')})`;

/** Builds a lane from rows of `lanes` and `subnetworks`. */
export const laneJson = jsonObject<LaneJson>({
  namespace: sql`lane_namespace(subnetworks.subnetwork_id)`,
  transactionCount: sql`lanes.transaction_count`,
  gas: sql`lanes.gas::text`,
  fees: sql`lanes.fees::text`,
  firstSeen: sql`lanes.first_seen`,
  lastSeen: sql`lanes.last_seen`,
});

export const unknownLane = (_state: unknown, { params }: { params: { namespace: Uint8Array } }) =>
  notFound(`Unknown lane: no accepted transaction is in ${toHex(params.namespace.subarray(0, LANE_NAMESPACE_BYTES))}`);
