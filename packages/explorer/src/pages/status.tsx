import type { Schema } from '@kasgres/client';
import { Bar, Card, Facts, Load, Page, Stat, Table } from '../components/page.tsx';
import { HashLink, Time } from '../components/values.tsx';
import { formatCount, formatDuration, formatPercent } from '../format.ts';
import { usePolled } from '../state/resource.ts';

const POLL_MS = 2000;

/**
 * Returns how much of the chain from the first block on is indexed; undefined while the node does
 * not tell.
 */
function progressOf({ sinkBlueScore, nodeSinkBlueScore, starts }: Schema<'Status'>): number | undefined {
  if (sinkBlueScore === null || nodeSinkBlueScore === null) return undefined;
  const first = Number(starts[0]?.blueScore ?? 0);
  const whole = Number(nodeSinkBlueScore) - first;
  return whole <= 0 ? 1 : Math.min(1, (Number(sinkBlueScore) - first) / whole);
}

function Progress({ status }: { status: Schema<'Status'> }) {
  const progress = progressOf(status);
  if (status.utxoSetLoad !== null) {
    return <p>Loading the UTXO set of the pruning point: {formatCount(status.utxoSetLoad.utxoCount)} UTXOs so far.</p>;
  }
  if (progress === undefined) return <p class="muted">The node does not tell how far its chain is.</p>;
  return (
    <div class="progress">
      <Bar share={progress} />
      <span>{status.synced ? 'In sync with the node' : `${formatPercent(progress)} of the chain is indexed`}</span>
    </div>
  );
}

export function StatusPage() {
  const resource = usePolled('status', (client) => client.get('/v1/status'), POLL_MS);
  return (
    <Page title="Status of the index">
      <Load resource={resource} rows={16}>
        {(status) => (
          <>
            <dl class="stats" aria-label="Status">
              <Stat
                label="Index"
                value={
                  <span class={status.synced ? 'positive' : 'warning'}>
                    {status.synced ? 'in sync' : 'catching up'}
                  </span>
                }
                note={status.network ?? 'no network yet'}
              />
              <Stat
                label="Lag"
                value={status.lagSeconds === null ? 'unknown' : formatDuration(status.lagSeconds)}
                note={status.lagSeconds === 0 ? 'nothing newer at the node' : 'behind the clock'}
              />
              <Stat
                label="Blue score"
                value={status.sinkBlueScore === null ? 'none' : formatCount(status.sinkBlueScore)}
                note={status.nodeSinkBlueScore === null ? 'node away' : `node ${formatCount(status.nodeSinkBlueScore)}`}
              />
              <Stat
                label="Node"
                value={
                  <span class={status.nodeConnected ? 'positive' : 'warning'}>
                    {status.nodeConnected ? 'connected' : 'away'}
                  </span>
                }
                note={status.nodeSynced === null ? 'sync state unknown' : status.nodeSynced ? 'synced' : 'not synced'}
              />
            </dl>
            <Card title="Progress">
              <Progress status={status} />
              <Facts
                facts={[
                  ['Sink', status.sink === null ? 'none' : <HashLink kind="block" hash={status.sink} isLong />],
                  [
                    'First block',
                    status.firstBlock === null ? 'none' : <HashLink kind="block" hash={status.firstBlock} isLong />,
                  ],
                  status.replicaLagSeconds !== null && ['Lag of the replica', formatDuration(status.replicaLagSeconds)],
                  ['Version', status.version],
                ]}
              />
            </Card>
            <Card title="Gaps">
              <Table
                caption="Gaps of the index"
                columns={[
                  { title: 'After block', cell: ({ afterBlock }) => <HashLink kind="block" hash={afterBlock} /> },
                  { title: 'Before block', cell: ({ beforeBlock }) => <HashLink kind="block" hash={beforeBlock} /> },
                  { title: 'From', cell: ({ afterTimestamp }) => <Time ms={afterTimestamp} /> },
                  { title: 'To', cell: ({ beforeTimestamp }) => <Time ms={beforeTimestamp} /> },
                  { title: 'Reason', isMinor: true, cell: ({ reason }) => reason },
                ]}
                rows={status.gaps}
                keyOf={({ afterBlock }) => afterBlock}
                empty="The index has no gaps."
              />
            </Card>
            <Card title="Bootstrap blocks">
              <Table
                caption="Blocks where segments of the index begin"
                columns={[
                  { title: 'Block', cell: ({ hash }) => <HashLink kind="block" hash={hash} /> },
                  { title: 'Time', cell: ({ timestamp }) => <Time ms={timestamp} /> },
                  { title: 'Blue score', isNumber: true, cell: ({ blueScore }) => formatCount(blueScore) },
                  { title: 'UTXOs', isNumber: true, cell: ({ utxoCount }) => formatCount(utxoCount) },
                ]}
                rows={status.starts}
                keyOf={({ hash }) => hash}
                empty="Nothing is indexed yet."
              />
            </Card>
          </>
        )}
      </Load>
    </Page>
  );
}
