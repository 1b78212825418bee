import type { Schema } from '@kasgres/client';
import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { Card, Facts, Load, NewerButton, Page, Pager, Stat, Table, Tabs, useCursor } from '../components/page.tsx';
import { TransactionList } from '../components/transfers.tsx';
import { Amount, CopyButton, HashLink, Labels, NamedAddress, TagBadge, Time } from '../components/values.tsx';
import { formatCount, shortAddress } from '../format.ts';
import { serverNow } from '../state/clock.ts';
import { useResource } from '../state/resource.ts';
import { useAddressStream, useStream } from '../stream/stream.ts';
import { BalanceChart } from './address-balance.tsx';
import { AddressFilters, filterOf } from './address-filters.tsx';
import { CovenantTable } from './covenants.tsx';

type Details = Schema<'AddressDetails'>;

function Summary({ details, pending }: { details: Details; pending: readonly string[] }) {
  return (
    <dl class="stats" aria-label="The address">
      <Stat label="Balance" value={<Amount sompi={details.balance} />} note="KAS" />
      <Stat
        label="Transactions"
        value={formatCount(details.transactionCount)}
        note={
          pending.length === 0 ? (
            'accepted'
          ) : (
            <>
              accepted, <a href={`/transactions/${pending[0]}`}>{formatCount(pending.length)} pending</a>
            </>
          )
        }
      />
      <Stat label="UTXOs" value={formatCount(details.utxoCount)} note="unspent outputs" />
      <Stat
        label="Last seen"
        value={<Time ms={details.lastSeen} />}
        note={
          <>
            first <Time ms={details.firstSeen} />
          </>
        }
      />
    </dl>
  );
}

function ClusterCard({ address }: { address: string }) {
  const resource = useResource(`cluster of ${address}`, (client) =>
    client.get('/v1/addresses/{address}/cluster', { params: { path: { address }, query: { limit: 5 } } }),
  );
  return (
    <Card title="Cluster">
      <Load resource={resource} rows={5} notFound="This address is in no cluster.">
        {({ cluster, members }) => (
          <>
            <p class="muted">Addresses that probably have the same owner.</p>
            <Facts
              facts={[
                ['Name', cluster.name ?? <span class="muted">none</span>],
                ['Addresses', formatCount(cluster.size)],
                ['Balance, KAS', <Amount sompi={cluster.balance} />],
                cluster.labels.length > 0 && ['Labels', <Labels labels={cluster.labels} />],
              ]}
            />
            {cluster.size > 1 && (
              <Table
                caption="Members of the cluster"
                columns={[
                  {
                    title: 'Members',
                    cell: ({ address: member, tag }) => <NamedAddress address={member} tag={tag} />,
                  },
                  { title: 'Balance, KAS', isNumber: true, cell: ({ balance }) => <Amount sompi={balance} /> },
                ]}
                rows={members}
                keyOf={(member) => member.address}
                empty="The cluster has no members."
              />
            )}
          </>
        )}
      </Load>
    </Card>
  );
}

function Transactions({ details: { address, transactionCount } }: { details: Details }) {
  const { query } = useLocation();
  const cursor = useCursor();
  const parameters = { limit: 20, include: 'tags' as const, ...cursor, ...filterOf(query) };
  const isFirst = Object.keys(cursor).length === 0;
  const resource = useResource(`transactions of ${address} ${JSON.stringify(parameters)}`, async (client) => ({
    ...(await client.get('/v1/addresses/{address}/transactions', { params: { path: { address }, query: parameters } })),
    transactionCount,
    loadedAt: serverNow(),
  }));
  const isOutdated = isFirst && resource.data !== undefined && resource.data.transactionCount !== transactionCount;
  return (
    <>
      <div class="row">
        <AddressFilters address={address} />
        <NewerButton isShown={isOutdated} onClick={resource.reload} />
      </div>
      <Load resource={resource} rows={12}>
        {({ transactions: rows, loadedAt, tags, metadata }) => (
          <>
            <TransactionList
              transactions={rows}
              loadedAt={loadedAt}
              tags={tags}
              own={address}
              empty={metadata.scannedTo === undefined ? 'No transactions match.' : 'None here. Older ones may match.'}
            />
            <Pager metadata={metadata} first={rows[0]?.transactionId} last={rows.at(-1)?.transactionId} />
          </>
        )}
      </Load>
    </>
  );
}

const outpointOf = (one: { transactionId: string; index: number } | undefined): string | undefined =>
  one === undefined ? undefined : `${one.transactionId}:${one.index}`;

function Utxos({ address }: { address: string }) {
  const cursor = useCursor();
  const parameters = { limit: 50, ...cursor };
  const resource = useResource(`UTXOs of ${address} ${JSON.stringify(parameters)}`, (client) =>
    client.get('/v1/addresses/{address}/utxos', { params: { path: { address }, query: parameters } }),
  );
  return (
    <Load resource={resource} rows={12}>
      {({ utxos: rows, metadata }) => (
        <>
          <Table
            caption="Unspent outputs"
            columns={[
              {
                title: 'Transaction',
                cell: ({ transactionId }) => <HashLink kind="transaction" hash={transactionId} />,
              },
              { title: 'Output', isNumber: true, cell: ({ index }) => index },
              { title: 'Kind', isMinor: true, cell: ({ isCoinbase }) => (isCoinbase ? 'coinbase' : 'payment') },
              { title: 'DAA score', isNumber: true, isMinor: true, cell: (one) => formatCount(one.blockDaaScore) },
              { title: 'Amount, KAS', isNumber: true, cell: ({ amount }) => <Amount sompi={amount} /> },
            ]}
            rows={rows}
            keyOf={(one) => outpointOf(one) ?? ''}
            empty="This address has no unspent outputs."
          />
          <Pager metadata={metadata} first={outpointOf(rows[0])} last={outpointOf(rows.at(-1))} />
        </>
      )}
    </Load>
  );
}

function Covenants({ address }: { address: string }) {
  const cursor = useCursor();
  const parameters = { limit: 20, ...cursor };
  const resource = useResource(`covenants of ${address} ${JSON.stringify(parameters)}`, (client) =>
    client.get('/v1/addresses/{address}/covenants', { params: { path: { address }, query: parameters } }),
  );
  return (
    <Load resource={resource} rows={8}>
      {({ covenants, metadata }) => (
        <>
          <CovenantTable covenants={covenants} empty="No UTXO of this address is bound to a covenant." />
          <Pager
            metadata={metadata}
            first={covenants[0]?.covenantId}
            last={covenants.at(-1)?.covenantId}
            labels={['Previous', 'Next']}
          />
        </>
      )}
    </Load>
  );
}

const LISTS = [
  ['transactions', 'Transactions'],
  ['utxos', 'UTXOs'],
  ['covenants', 'Covenants'],
] as const;

/** The key resets the state, such as pending transactions, when another address is opened. */
export const AddressPage = ({ address }: { address: string }) => <AddressView key={address} address={address} />;

function AddressView({ address }: { address: string }) {
  const { query } = useLocation();
  const [pending, setPending] = useState<readonly string[]>([]);
  const resource = useResource(`address ${address}`, (client) =>
    client.get('/v1/addresses/{address}', { params: { path: { address } } }),
  );
  // Events before the stream began are missing.
  useStream({
    onBegin: () => {
      setPending([]);
      resource.reload();
    },
  });
  useAddressStream(address, ({ status, transactionId }) => {
    setPending((old) => {
      const others = old.filter((one) => one !== transactionId);
      return status === 'pending' ? [...others, transactionId] : others;
    });
    if (status === 'accepted' || status === 'reverted') resource.reload();
  });
  const details = resource.data?.address;
  const tag = details?.tag;
  const [tab, title] = LISTS.find(([name]) => name === query['tab']) ?? LISTS[0];
  return (
    <Page
      title={`Address ${tag && !tag.isGuessed ? `${tag.name}, ` : ''}${shortAddress(address)}`}
      heading={
        <>
          Address {details !== undefined && <TagBadge tag={details.tag} />}
          {details !== undefined && <Labels labels={[...(details.tag?.labels ?? []), ...details.automaticLabels]} />}
          <span class="subject mono">
            {address} <CopyButton value={address} label="address" />
          </span>
        </>
      }
    >
      <Load resource={resource} rows={16} notFound="This is no address of this network.">
        {({ address: found }) => (
          <>
            <Summary details={found} pending={pending} />
            <div class="columns wide-first">
              <BalanceChart details={found} />
              <ClusterCard address={address} />
            </div>
            <Card title={title} aside={<Tabs label="Lists" parameter="tab" tabs={LISTS} current={tab} />}>
              {tab === 'transactions' && <Transactions details={found} />}
              {tab === 'utxos' && <Utxos address={address} />}
              {tab === 'covenants' && <Covenants address={address} />}
            </Card>
          </>
        )}
      </Load>
    </Page>
  );
}
