/** Types of the node's operations, derived from the request and response unions of the protocol. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { KaspadRequestSchema, KaspadResponse } from './generated/kaspad_pb.ts';

type RequestPayload = NonNullable<MessageInitShape<typeof KaspadRequestSchema>['payload']>;
type ResponsePayload = KaspadResponse['payload'];

type RequestCase = Exclude<RequestPayload['case'], undefined>;
type OpOf<Case> = Case extends `${infer Name}Request` ? Name : never;

/** Includes subscriptions. */
export type AnyOp = OpOf<RequestCase>;

/** The requests that are calls: `getBlockDagInfo`, `submitBlock`, … */
export type Op = Exclude<AnyOp, `notify${string}`>;

/** Omitted fields have their default. 64-bit integers are bigint. */
export type RequestOf<O extends AnyOp> = Extract<RequestPayload, { case: `${O}Request` }>['value'];

/** A member of the response union: `getInfoResponse`, `blockAddedNotification`, … */
export type ResponseCase = Exclude<ResponsePayload['case'], undefined>;

/** `error` is never set: the client throws it. */
export type ResponseOf<O extends AnyOp> = Extract<ResponsePayload, { case: `${O}Response` }>['value'];

type TopicOf<Case> = Case extends `${infer Name}Notification` ? Name : never;

/** The subject of a subscription: `virtualChainChanged`, `blockAdded`, … */
export type Topic = TopicOf<ResponseCase>;

export type NotificationOf<T extends Topic> = Extract<ResponsePayload, { case: `${T}Notification` }>['value'];

export type Notification = { [T in Topic]: { topic: T; message: NotificationOf<T> } }[Topic];
