/** The subscriptions of one stream and the messages of their notifications. */
import { protocol, type Topic } from '@kasgres/node';
import type { NodeEvent, NodeState } from '../dag/node-state.ts';
import { acceptedIdsMessage } from './responses.ts';
import type { NotifyOp, ReceivedRequest, ResponsePayload } from './calls.ts';
import { blockMessage, hashesOf } from './to-messages.ts';

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
    return this.allOf(event, state).filter((payload) => this.topics.has(payload.case ?? ''));
  }

  private allOf(event: NodeEvent, { dag, network }: NodeState): ResponsePayload[] {
    if (event.kind === 'newBlockTemplate') return [{ case: 'newBlockTemplateNotification', value: {} }];
    if (event.kind === 'blockAdded') {
      const block = blockMessage(event.block, true, network.addressPrefix);
      return [{ case: 'blockAddedNotification', value: { block } }];
    }
    const { removed, added } = event.change;
    const chainChange = {
      removedChainBlockHashes: hashesOf(removed),
      addedChainBlockHashes: hashesOf(added),
      acceptedTransactionIds: this.includeAcceptedTransactionIds ? added.map(acceptedIdsMessage) : [],
    };
    return [
      { case: 'virtualChainChangedNotification', value: chainChange },
      { case: 'sinkBlueScoreChangedNotification', value: { sinkBlueScore: dag.sink.header.blueScore } },
      { case: 'virtualDaaScoreChangedNotification', value: { virtualDaaScore: dag.virtual.daaScore } },
    ];
  }
}

/** `notifyBlockAdded` subscribes to `blockAddedNotification`. */
function notificationCase(op: NotifyOp): `${Topic}Notification` {
  const name = op.slice('notify'.length);
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}Notification` as `${Topic}Notification`;
}
