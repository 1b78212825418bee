/** The subscriptions of one stream and the messages of their notifications. */
import { protocol, type Topic } from '@kasgres/node';
import type { ChainChange } from '../dag/dag.ts';
import type { NodeEvent, NodeState } from '../dag/node-state.ts';
import { acceptedIdsMessage } from './responses.ts';
import type { NotifyOp, ReceivedRequest, ResponsePayload } from './calls.ts';
import { blockMessage, hashesOf } from './to-messages.ts';

type NotificationCase = `${Topic}Notification`;
type PayloadOf<Case extends NotificationCase> = Extract<ResponsePayload, { case: Case }>;

export class Subscriptions {
  private readonly topics = new Set<string>();
  private includeAcceptedTransactionIds = false;

  change(op: NotifyOp, request: ReceivedRequest<NotifyOp>): void {
    const isStart = request.command === protocol.NotifyCommand.NOTIFY_START;
    if (isStart) this.topics.add(notificationCase(op));
    else this.topics.delete(notificationCase(op));
    if ('includeAcceptedTransactionIds' in request) {
      this.includeAcceptedTransactionIds = request.includeAcceptedTransactionIds;
    }
  }

  /** Returns the notifications of an event that the stream subscribed to. */
  notifications(event: NodeEvent, state: NodeState): ResponsePayload[] {
    return this.allOf(event, state).flatMap(([name, create]) => (this.topics.has(name) ? [create()] : []));
  }

  /** Creates only messages that are sent, since a block takes milliseconds. */
  private allOf(event: NodeEvent, { dag, network }: NodeState): [NotificationCase, () => ResponsePayload][] {
    if (event.kind === 'newBlockTemplate') return [notification('newBlockTemplateNotification', () => ({}))];
    if (event.kind === 'blockAdded') {
      const block = () => blockMessage(event.block, true, network.addressPrefix);
      return [notification('blockAddedNotification', () => ({ block: block() }))];
    }
    return [
      notification('virtualChainChangedNotification', () => this.chainChange(event.change)),
      notification('sinkBlueScoreChangedNotification', () => ({ sinkBlueScore: dag.sink.header.blueScore })),
      notification('virtualDaaScoreChangedNotification', () => ({ virtualDaaScore: dag.virtual.daaScore })),
    ];
  }

  private chainChange({ removed, added }: ChainChange) {
    return {
      removedChainBlockHashes: hashesOf(removed),
      addedChainBlockHashes: hashesOf(added),
      acceptedTransactionIds: this.includeAcceptedTransactionIds ? added.map(acceptedIdsMessage) : [],
    };
  }
}

function notification<Case extends NotificationCase>(
  name: Case,
  create: () => PayloadOf<Case>['value'],
): [Case, () => ResponsePayload] {
  return [name, () => ({ case: name, value: create() }) as PayloadOf<Case>];
}

/** `notifyBlockAdded` subscribes to `blockAddedNotification`. */
function notificationCase(op: NotifyOp): NotificationCase {
  const name = op.slice('notify'.length);
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}Notification` as NotificationCase;
}
