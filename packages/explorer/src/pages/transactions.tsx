import { useLocation } from 'preact-iso';
import { Card, Load, NewerButton, Page, Pager, Tabs, useCursor } from '../components/page.tsx';
import { type Transaction, TransactionList } from '../components/transfers.tsx';
import { useResource } from '../state/resource.ts';
import { sinkBlueScore } from '../stream/stream.ts';

export const outputSum = ({ outputs }: Pick<Transaction, 'outputs'>): bigint =>
  outputs.reduce((sum, { amount }) => sum + BigInt(amount), 0n);

export function TransactionsPage() {
  const { query } = useLocation();
  const cursor = useCursor();
  const acceptedOnly = query['show'] === 'accepted';
  const isFirst = Object.keys(cursor).length === 0;
  const parameters = { limit: 25, accepted_only: acceptedOnly, include: 'tags' as const, ...cursor };
  const transactions = useResource(`transactions ${JSON.stringify(parameters)}`, async (client) => ({
    ...(await client.get('/v1/transactions', { params: { query: parameters } })),
    sinkBlueScore: sinkBlueScore.value,
    loadedAt: Date.now(),
  }));
  const isOutdated =
    isFirst && transactions.data !== undefined && transactions.data.sinkBlueScore !== sinkBlueScore.value;
  return (
    <Page
      title="Transactions"
      aside={
        <div class="row">
          <NewerButton isShown={isOutdated} onClick={transactions.reload} />
          <Tabs
            label="Transactions to show"
            parameter="show"
            tabs={[
              ['all', 'All'],
              ['accepted', 'Accepted only'],
            ]}
            current={acceptedOnly ? 'accepted' : 'all'}
          />
        </div>
      }
    >
      <Card>
        <Load resource={transactions} rows={20}>
          {({ transactions: rows, loadedAt, tags, metadata }) => (
            <>
              <TransactionList
                transactions={rows}
                loadedAt={loadedAt}
                tags={tags}
                empty="There are no transactions here."
              />
              <Pager metadata={metadata} first={rows[0]?.transactionId} last={rows.at(-1)?.transactionId} />
            </>
          )}
        </Load>
      </Card>
    </Page>
  );
}
