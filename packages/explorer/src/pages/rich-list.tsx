import type { ResponseBody } from '@kasgres/client';
import { Card, Load, Page, Pager, Share, Table, useCursor } from '../components/page.tsx';
import { Amount, NamedAddress, Time } from '../components/values.tsx';
import { formatCompact, formatCount, toKas } from '../format.ts';
import { useResource } from '../state/resource.ts';

type Tiers = ResponseBody<'get', '/v1/network/distribution'>['tiers'];

const PAGE = 50;

const nameOf = ({ from, to }: Tiers[number]): string =>
  to === null
    ? `${formatCompact(toKas(from))} and more`
    : toKas(from) < 1
      ? 'less than 1'
      : `${formatCompact(toKas(from))} – ${formatCompact(toKas(to))}`;

function Distribution({ tiers }: { tiers: Tiers }) {
  const total = tiers.reduce((sum, { balance }) => sum + BigInt(balance), 0n);
  const most = Math.max(...tiers.map(({ addresses }) => addresses));
  const last = tiers.findLastIndex(({ addresses }) => addresses > 0);
  const shareOf = (balance: string): number => (total === 0n ? 0 : Number(balance) / Number(total));
  return (
    <Table
      caption="Addresses by balance"
      columns={[
        { title: 'Balance, KAS', cell: nameOf },
        {
          title: 'Addresses',
          isNumber: true,
          cell: ({ addresses }) => <Share share={addresses / most} text={formatCount(addresses)} />,
        },
        { title: 'Total, KAS', isNumber: true, isMinor: true, cell: ({ balance }) => <Amount sompi={balance} /> },
        { title: 'Share of supply', isNumber: true, cell: ({ balance }) => <Share share={shareOf(balance)} /> },
      ]}
      rows={tiers.slice(0, last + 1)}
      keyOf={({ from }) => from}
      empty="No address has a balance."
    />
  );
}

export function RichListPage() {
  const cursor = useCursor();
  const isFirst = Object.keys(cursor).length === 0;
  const parameters = { limit: PAGE, ...cursor };
  const resource = useResource(`rich list ${JSON.stringify(parameters)}`, async (client) => {
    const [page, supply] = await Promise.all([
      client.get('/v1/addresses', { params: { query: parameters } }),
      client.get('/v1/rpc/getCoinSupply'),
    ]);
    return { ...page, supply: Number(supply.circulatingSompi) };
  });
  const distribution = useResource('distribution', (client) => client.get('/v1/network/distribution'));
  return (
    <Page title="Rich list">
      {isFirst && (
        <Card
          title="Distribution"
          aside={
            distribution.data && (
              <span class="muted">
                updated <Time ms={distribution.data.timestamp} />
              </span>
            )
          }
        >
          <Load resource={distribution} rows={8}>
            {({ tiers }) => <Distribution tiers={tiers} />}
          </Load>
        </Card>
      )}
      <Card title="Largest balances">
        <Load resource={resource} rows={20}>
          {({ addresses, metadata, supply }) => (
            <>
              <Table
                caption="Addresses by balance, largest first"
                columns={[
                  ...(isFirst
                    ? [{ title: '#', isNumber: true, cell: (_: unknown, index: number) => formatCount(index + 1) }]
                    : []),
                  { title: 'Address', cell: (row) => <NamedAddress {...row} /> },
                  { title: 'Balance, KAS', isNumber: true, cell: ({ balance }) => <Amount sompi={balance} /> },
                  {
                    title: 'Share of supply',
                    isNumber: true,
                    isMinor: true,
                    cell: ({ balance }) => <Share share={supply === 0 ? 0 : Number(balance) / supply} />,
                  },
                ]}
                rows={addresses}
                keyOf={({ address }) => address}
                empty="No address has a balance."
              />
              <Pager
                metadata={metadata}
                first={cursorOf(addresses[0])}
                last={cursorOf(addresses.at(-1))}
                labels={['Larger', 'Smaller']}
              />
            </>
          )}
        </Load>
      </Card>
    </Page>
  );
}

/** The balance is part of the cursor, since the position of an address changes with it. */
const cursorOf = (row: { address: string; balance: string } | undefined): string | undefined =>
  row === undefined ? undefined : `${row.balance}:${row.address}`;
