import { useLocation } from 'preact-iso';
import { Card, Load, Page, Pager, Table, useCursor } from '../components/page.tsx';
import { AddressLink, Amount, Labels } from '../components/values.tsx';
import { formatCount } from '../format.ts';
import { useResource } from '../state/resource.ts';

export function TagsPage() {
  const { query } = useLocation();
  const cursor = useCursor();
  const label = query['label'];
  const parameters = { limit: 50, ...cursor, ...(label !== undefined && { label }) };
  const tags = useResource(`tags ${JSON.stringify(parameters)}`, (client) =>
    client.get('/v1/tags', { params: { query: parameters } }),
  );
  return (
    <Page
      title={label === undefined ? 'Tags' : `Tags: ${label}`}
      aside={label !== undefined && <a href="/tags">All tags</a>}
    >
      <Card>
        <Load resource={tags} rows={12}>
          {({ tags: rows, metadata }) => (
            <>
              <Table
                caption="Names of addresses"
                columns={[
                  { title: 'Name', cell: ({ name }) => <a href={`/tags/${encodeURIComponent(name)}`}>{name}</a> },
                  {
                    title: 'Labels',
                    cell: ({ labels }) =>
                      labels.map((one) => (
                        <a class="badge quiet" key={one} href={`/tags?label=${encodeURIComponent(one)}`}>
                          {one}
                        </a>
                      )),
                  },
                  {
                    title: 'Address',
                    isMinor: true,
                    cell: ({ address }) => <AddressLink address={address} canCopy />,
                  },
                ]}
                rows={rows}
                keyOf={({ address }) => address}
                empty={
                  label === undefined
                    ? 'No addresses have names. Import some with `kasgres tags`.'
                    : 'No addresses have this label.'
                }
              />
              <Pager
                metadata={metadata}
                first={rows[0]?.address}
                last={rows.at(-1)?.address}
                labels={['Previous', 'Next']}
              />
            </>
          )}
        </Load>
      </Card>
    </Page>
  );
}

export function TagPage({ name }: { name: string }) {
  const cursor = useCursor();
  const parameters = { limit: 100, name, ...cursor };
  const resource = useResource(`tag ${JSON.stringify(parameters)}`, async (client) => {
    const page = await client.get('/v1/tags', { params: { query: parameters } });
    const addresses = page.tags.map(({ address }) => address);
    const details =
      addresses.length === 0 ? [] : (await client.post('/v1/addresses', { body: { addresses } })).addresses;
    return { ...page, details };
  });
  const tag = resource.data?.tags[0];
  return (
    <Page
      title={name}
      heading={
        <>
          {name} <Labels labels={tag?.labels ?? []} />
        </>
      }
      aside={
        tag !== undefined &&
        /^https?:/.test(tag.link) && (
          <a href={tag.link} rel="noreferrer noopener" target="_blank">
            Website
          </a>
        )
      }
    >
      <Card title="Addresses">
        <Load resource={resource} rows={6}>
          {({ details, metadata }) => (
            <>
              <Table
                caption={`Addresses of ${name}`}
                columns={[
                  { title: 'Address', cell: ({ address }) => <AddressLink address={address} canCopy /> },
                  {
                    title: 'Automatic labels',
                    isMinor: true,
                    cell: ({ automaticLabels }) => <Labels labels={automaticLabels} />,
                  },
                  {
                    title: 'Transactions',
                    isNumber: true,
                    isMinor: true,
                    cell: ({ transactionCount }) => formatCount(transactionCount),
                  },
                  { title: 'Balance, KAS', isNumber: true, cell: ({ balance }) => <Amount sompi={balance} /> },
                ]}
                rows={details}
                keyOf={({ address }) => address}
                empty="No address has this name."
              />
              <Pager
                metadata={metadata}
                first={details[0]?.address}
                last={details.at(-1)?.address}
                labels={['Previous', 'Next']}
              />
            </>
          )}
        </Load>
      </Card>
    </Page>
  );
}
