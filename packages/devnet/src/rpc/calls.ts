import type { MessageInitShape } from '@bufbuild/protobuf';
import type { AnyOp, Op, protocol } from '@kasgres/node';

export type RequestPayload = protocol.KaspadRequest['payload'];
export type ResponsePayload = NonNullable<MessageInitShape<typeof protocol.KaspadResponseSchema>['payload']>;

export type ReceivedRequest<O extends AnyOp> = Extract<RequestPayload, { case: `${O}Request` }>['value'];
export type ResponseInit<O extends AnyOp> = Extract<ResponsePayload, { case: `${O}Response` }>['value'];

/** `notifyBlockAdded`, … */
export type NotifyOp = Exclude<AnyOp, Op>;

/** Returns `undefined` for an empty or unknown request. */
export function operationOf(request: RequestPayload): AnyOp | undefined {
  return request.case?.slice(0, -'Request'.length) as AnyOp | undefined;
}

export function isNotifyOp(op: AnyOp): op is NotifyOp {
  return op.startsWith('notify');
}

export function responsePayload<O extends AnyOp>(op: O, value: ResponseInit<O>): ResponsePayload {
  return { case: `${op}Response`, value } as ResponsePayload;
}
