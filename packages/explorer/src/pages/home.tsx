import { Card, Load, Page, Stat, Table } from '../components/page.tsx';
import { Amount, HashLink, Time } from '../components/values.tsx';
import { LiveDag } from '../dag/panel.tsx';
import { formatCompact, formatCount, formatHashRate, formatRate, toKas } from '../format.ts';
import { type Resource, useResource } from '../state/resource.ts';
import type { ResponseBody } from '@kasgres/client';
import { BLOCK_COLUMNS } from './blocks.tsx';
import { outputSum } from './transactions.tsx';

const REFRESH_MS = 2000;
const LATEST = 8;

function NetworkStats({ resource }: { resource: Resource<ResponseBody<'get', '/v1/network'>> }) {
  const { data } = resource;
  const minute = data?.lastMinute;
  const placeholder = '–';
  return (
    <dl class="stats" aria-label="The network">
      <Stat label="Blue score" value={data ? formatCount(data.blueScore) : placeholder} note={data?.network} />
      <Stat label="Blocks" value={minute ? formatRate(minute.blocksPerSecond) : placeholder} note="per second" />
      <Stat
        label="Transactions"
        value={minute ? formatRate(minute.transactionsPerSecond) : placeholder}
        note="per second"
      />
      <Stat
        label="Hash rate"
        value={data ? formatHashRate(Number(data.hashesPerSecond)) : placeholder}
        note={data ? `difficulty ${formatCompact(data.difficulty)}` : ''}
      />
      <Stat
        label="Supply"
        value={data ? formatCompact(toKas(data.circulatingSompi)) : placeholder}
        note={data ? `KAS, reward ${toKas(data.blockReward)}` : ''}
      />
      <Stat
        label="Mempool"
        value={data ? (data.mempoolSize === null ? 'away' : formatCount(data.mempoolSize)) : placeholder}
        note="transactions"
      />
    </dl>
  );
}

export function HomePage() {
  const network = useResource('network', (client) => client.get('/v1/network'), { refreshMs: REFRESH_MS });
  const blocks = useResource(
    'latest blocks',
    (client) => client.get('/v1/blocks', { params: { query: { limit: LATEST } } }),
    { refreshMs: REFRESH_MS },
  );
  const transactions = useResource(
    'latest transactions',
    (client) => client.get('/v1/transactions', { params: { query: { limit: LATEST, accepted_only: true } } }),
    { refreshMs: REFRESH_MS },
  );
  return (
    <Page title="Kaspa explorer" heading="The Kaspa blockDAG">
      <NetworkStats resource={network} />
      <LiveDag />
      <div class="columns">
        <Card title="Latest blocks" aside={<a href="/blocks">View all</a>}>
          <Load resource={blocks} rows={LATEST + 1}>
            {(data) => (
              <Table
                caption="Latest blocks"
                isLive
                columns={BLOCK_COLUMNS.filter(({ title }) => title !== 'DAA score')}
                rows={data.blocks}
                keyOf={({ hash }) => hash}
                empty="No blocks are indexed yet."
              />
            )}
          </Load>
        </Card>
        <Card title="Latest accepted transactions" aside={<a href="/transactions">View all</a>}>
          <Load resource={transactions} rows={LATEST + 1}>
            {(data) => (
              <Table
                caption="Latest accepted transactions"
                isLive
                columns={[
                  {
                    title: 'Transaction',
                    cell: ({ transactionId }) => <HashLink kind="transaction" hash={transactionId} />,
                  },
                  { title: 'Time', cell: ({ blockTime }) => <Time ms={blockTime} /> },
                  { title: 'Amount, KAS', isNumber: true, cell: (one) => <Amount sompi={outputSum(one)} /> },
                ]}
                rows={data.transactions}
                keyOf={({ transactionId }) => transactionId}
                empty="No transactions are accepted yet."
              />
            )}
          </Load>
        </Card>
      </div>
    </Page>
  );
}
