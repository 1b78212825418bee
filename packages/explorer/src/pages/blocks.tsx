import type { Schema } from '@kasgres/client';
import { useLocation } from 'preact-iso';
import { Card, type Column, Load, NewerButton, Page, Pager, Table, Tabs, useCursor } from '../components/page.tsx';
import { BlockBadge, HashLink, Time } from '../components/values.tsx';
import { formatCount } from '../format.ts';
import { useResource } from '../state/resource.ts';
import { sinkBlueScore } from '../stream/stream.ts';

export const BLOCK_COLUMNS: readonly Column<Schema<'RestBlock'>>[] = [
  { title: 'Block', cell: ({ hash }) => <HashLink kind="block" hash={hash} /> },
  { title: 'Colour', cell: (block) => <BlockBadge {...block} /> },
  { title: 'Time', cell: ({ timestamp }) => <Time ms={timestamp} /> },
  { title: 'Blue score', isNumber: true, isMinor: true, cell: ({ blueScore }) => formatCount(blueScore) },
  { title: 'DAA score', isNumber: true, isMinor: true, cell: ({ daaScore }) => formatCount(daaScore) },
  { title: 'Txs', isNumber: true, cell: ({ transactionCount }) => formatCount(transactionCount) },
];

export function BlocksPage() {
  const { query } = useLocation();
  const cursor = useCursor();
  const chainOnly = query['show'] === 'chain';
  const isFirst = Object.keys(cursor).length === 0;
  const parameters = { limit: 50, chain_only: chainOnly, ...cursor };
  const blocks = useResource(`blocks ${JSON.stringify(parameters)}`, async (client) => ({
    ...(await client.get('/v1/blocks', { params: { query: parameters } })),
    sinkBlueScore: sinkBlueScore.value,
  }));
  const isOutdated = isFirst && blocks.data !== undefined && blocks.data.sinkBlueScore !== sinkBlueScore.value;
  return (
    <Page
      title="Blocks"
      aside={
        <div class="row">
          <NewerButton isShown={isOutdated} onClick={blocks.reload} />
          <Tabs
            label="Blocks to show"
            parameter="show"
            tabs={[
              ['all', 'All'],
              ['chain', 'Chain only'],
            ]}
            current={chainOnly ? 'chain' : 'all'}
          />
        </div>
      }
    >
      <Card>
        <Load resource={blocks} rows={20}>
          {({ blocks: rows, metadata }) => (
            <>
              <Table
                caption="Blocks, newest first"
                columns={BLOCK_COLUMNS}
                rows={rows}
                keyOf={({ hash }) => hash}
                empty="There are no blocks here."
              />
              <Pager metadata={metadata} first={rows[0]?.hash} last={rows.at(-1)?.hash} />
            </>
          )}
        </Load>
      </Card>
    </Page>
  );
}
