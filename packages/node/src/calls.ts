/** The node's operations as types, all derived from the protocol description: a call is a pair of members of two unions. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { KaspadRequestSchema, KaspadResponse } from './generated/kaspad_pb.ts';

type RequestPayload = NonNullable<MessageInitShape<typeof KaspadRequestSchema>['payload']>;
type ResponsePayload = KaspadResponse['payload'];

type RequestCase = Exclude<RequestPayload['case'], undefined>;
type OpOf<Case> = Case extends `${infer Name}Request` ? Name : never;

/** Every request the node knows, subscriptions included. */
export type AnyOp = OpOf<RequestCase>;

/** The requests that are calls: `getBlockDagInfo`, `submitBlock`, … */
export type Op = Exclude<AnyOp, `notify${string}`>;

/** What to pass; fields left out have their default. 64-bit integers are bigint. */
export type RequestOf<O extends AnyOp> = Extract<RequestPayload, { case: `${O}Request` }>['value'];

/** A member of the response union: `getInfoResponse`, `blockAddedNotification`, … */
export type ResponseCase = Exclude<ResponsePayload['case'], undefined>;

/** What comes back; its `error` is never set: that is thrown. */
export type ResponseOf<O extends AnyOp> = Extract<ResponsePayload, { case: `${O}Response` }>['value'];

type TopicOf<Case> = Case extends `${infer Name}Notification` ? Name : never;

/** What can be subscribed to: `virtualChainChanged`, `blockAdded`, … */
export type Topic = TopicOf<ResponseCase>;

export type NotificationOf<T extends Topic> = Extract<ResponsePayload, { case: `${T}Notification` }>['value'];

export type Notification = { [T in Topic]: { topic: T; message: NotificationOf<T> } }[Topic];
