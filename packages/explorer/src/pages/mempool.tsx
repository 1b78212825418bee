import { Bar, Card, Load, Page, Stat, Table } from '../components/page.tsx';
import { Amount, HashLink, Time } from '../components/values.tsx';
import { formatCount, formatRate } from '../format.ts';
import { usePolled } from '../state/resource.ts';

const POLL_MS = 2000;

export function MempoolPage() {
  const resource = usePolled('mempool', (client) => client.get('/v1/mempool'), POLL_MS);
  return (
    <Page title="Mempool">
      <Load resource={resource} rows={16}>
        {({ size, mass, fees, newest, timestamp }) => {
          const most = Math.max(...fees.map(({ transactions }) => transactions), 1);
          const totalFees = fees.reduce((sum, one) => sum + BigInt(one.fees), 0n);
          return (
            <>
              <dl class="stats" aria-label="The mempool">
                <Stat label="Transactions" value={formatCount(size)} note="pending" />
                <Stat label="Mass" value={formatCount(mass)} note="grams" />
                <Stat label="Fees" value={<Amount sompi={totalFees} />} note="KAS" />
                <Stat label="Sampled" value={<Time ms={timestamp} />} note="from the node" />
              </dl>
              <Card title="Fee rates">
                <Table
                  caption="Pending transactions by fee rate"
                  columns={[
                    {
                      title: 'Sompi per gram',
                      cell: ({ from, to }) =>
                        to === null ? `${formatCount(from)} and more` : `${formatCount(from)} – ${formatCount(to)}`,
                    },
                    { title: 'Transactions', isNumber: true, cell: ({ transactions }) => formatCount(transactions) },
                    { title: 'Share', cell: ({ transactions }) => <Bar share={transactions / most} /> },
                    { title: 'Mass', isNumber: true, isMinor: true, cell: (one) => formatCount(one.mass) },
                    { title: 'Fees, KAS', isNumber: true, cell: (one) => <Amount sompi={one.fees} /> },
                  ]}
                  rows={fees}
                  keyOf={({ from }) => String(from)}
                  empty="The mempool is empty."
                />
              </Card>
              <Card title="Newest">
                <Table
                  caption="Newest pending transactions"
                  columns={[
                    {
                      title: 'Transaction',
                      cell: ({ transactionId }) => <HashLink kind="transaction" hash={transactionId} />,
                    },
                    { title: 'Seen', cell: ({ seenAt }) => <Time ms={seenAt} /> },
                    { title: 'Mass', isNumber: true, isMinor: true, cell: (one) => formatCount(one.mass) },
                    {
                      title: 'Sompi per gram',
                      isNumber: true,
                      isMinor: true,
                      cell: ({ feerate }) => (feerate === null ? '' : formatRate(feerate)),
                    },
                    {
                      title: 'Fee, KAS',
                      isNumber: true,
                      cell: ({ fee }) => (fee === null ? '' : <Amount sompi={fee} />),
                    },
                    {
                      title: 'Amount, KAS',
                      isNumber: true,
                      isMinor: true,
                      cell: ({ outputSum }) => <Amount sompi={outputSum} />,
                    },
                  ]}
                  rows={newest}
                  keyOf={({ transactionId }) => transactionId}
                  empty="No transactions are pending."
                />
              </Card>
            </>
          );
        }}
      </Load>
    </Page>
  );
}
