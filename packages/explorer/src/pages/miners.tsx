import { useLocation } from 'preact-iso';
import { Card, Load, Page, Share, Table, Tabs } from '../components/page.tsx';
import { Amount, NamedAddress, Time } from '../components/values.tsx';
import { formatCount } from '../format.ts';
import { useResource } from '../state/resource.ts';

const INTERVALS = [
  ['hour', 'Hour'],
  ['day', 'Day'],
  ['week', 'Week'],
] as const;

export function MinersPage() {
  const { query } = useLocation();
  const interval = INTERVALS.find(([name]) => name === query['interval'])?.[0] ?? 'day';
  const miners = useResource(
    `miners ${interval}`,
    (client) => client.get('/v1/miners', { params: { query: { interval } } }),
    { refreshMs: 30_000 },
  );
  return (
    <Page
      title="Miners"
      aside={<Tabs label="Interval" parameter="interval" tabs={INTERVALS} current={interval} hasDefault={false} />}
    >
      <Card
        title="Miners by blocks"
        aside={
          miners.data && (
            <span class="muted">
              {formatCount(miners.data.blocks)} blocks since <Time ms={miners.data.from} />
            </span>
          )
        }
      >
        <Load resource={miners} rows={10}>
          {({ miners: rows }) => (
            <Table
              caption="Miners by blocks"
              columns={[
                { title: 'Miner', cell: (miner) => <NamedAddress {...miner} /> },
                { title: 'Blocks', isNumber: true, cell: ({ blocks }) => formatCount(blocks) },
                { title: 'Share', isNumber: true, cell: ({ share }) => <Share share={share} /> },
                { title: 'Red', isNumber: true, isMinor: true, cell: ({ redBlocks }) => formatCount(redBlocks) },
                {
                  title: 'Rewards, KAS',
                  isNumber: true,
                  isMinor: true,
                  cell: ({ rewards }) => <Amount sompi={rewards} />,
                },
              ]}
              rows={rows}
              keyOf={({ scriptPublicKey }) => scriptPublicKey}
              empty="No blocks were merged in this time."
            />
          )}
        </Load>
      </Card>
    </Page>
  );
}
