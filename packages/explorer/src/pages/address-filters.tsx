/**
 * Filters of the transactions of an address, which are part of the address of the page, and the
 * download of all that match.
 */
import { ApiError } from '@kasgres/client';
import { useLocation } from 'preact-iso';
import { useState } from 'preact/hooks';
import { readForm } from '../components/form.ts';
import { useHref } from '../components/page.tsx';
import { parseKas } from '../format.ts';
import { describeError, request } from '../state/api.ts';

const NAMES = ['direction', 'min', 'from', 'to'] as const;

export interface HistoryFilter {
  direction?: 'received' | 'sent';
  min_amount?: string;
  from?: number;
  to?: number;
}

/** Returns the filter in the address of the page; invalid parts are ignored. */
export function filterOf(query: Readonly<Record<string, string>>): HistoryFilter {
  const direction = (['received', 'sent'] as const).find((name) => name === query['direction']);
  const minimum = parseKas(query['min'] ?? '');
  const from = Date.parse(`${query['from']}T00:00`);
  const end = new Date(`${query['to']}T00:00`);
  // The day is included. It has 23 or 25 hours if daylight saving time begins or ends.
  const to = end.setDate(end.getDate() + 1);
  return {
    ...(direction !== undefined && { direction }),
    ...(minimum !== undefined && { min_amount: minimum }),
    ...(!Number.isNaN(from) && { from }),
    ...(!Number.isNaN(to) && { to }),
  };
}

export function AddressFilters({ address }: { address: string }) {
  const { query, route } = useLocation();
  const href = useHref();
  const submit = (event: SubmitEvent): void => {
    route(href({ ...readForm(event, NAMES), after: undefined, before: undefined }));
  };
  const isFiltered = NAMES.some((name) => query[name] !== undefined);
  const none = Object.fromEntries(NAMES.map((name) => [name, undefined]));
  return (
    <form class="filters" onSubmit={submit} key={NAMES.map((name) => query[name]).join()}>
      <label>
        Direction{' '}
        <select name="direction">
          {[
            ['', 'Both'],
            ['received', 'Received'],
            ['sent', 'Sent'],
          ].map(([value, title]) => (
            <option key={value} value={value} selected={value === (query['direction'] ?? '')}>
              {title}
            </option>
          ))}
        </select>
      </label>
      <label>
        At least, KAS{' '}
        <input
          name="min"
          inputMode="decimal"
          pattern="\d{1,11}([.,]\d{1,8})?|[1-9]\d{0,2}(,\d{3})+(\.\d{1,8})?"
          title="An amount in KAS with at most eight decimals"
          size={8}
          placeholder="0"
          value={query['min'] ?? ''}
        />
      </label>
      <label>
        From <input type="date" name="from" value={query['from'] ?? ''} />
      </label>
      <label>
        To <input type="date" name="to" value={query['to'] ?? ''} />
      </label>
      <span class="row">
        <button type="submit">Filter</button>
        {isFiltered && (
          <a class="button" href={href({ ...none, after: undefined, before: undefined })}>
            Clear
          </a>
        )}
        <CsvButton address={address} />
      </span>
    </form>
  );
}

/** Requests the file with the key of the tab, which a link could not send. */
async function downloadCsv(address: string, filter: HistoryFilter): Promise<void> {
  const csv = await request(async (client) => {
    const { data, error, response } = await client.http.GET('/v1/addresses/{address}/transactions', {
      params: { path: { address }, query: filter },
      headers: { accept: 'text/csv' },
      parseAs: 'blob',
    });
    if (data === undefined) throw new ApiError(response, error);
    return data;
  });
  const url = URL.createObjectURL(csv);
  const link = document.createElement('a');
  link.href = url;
  link.download = `${address.replace(':', '-')}.csv`;
  link.click();
  URL.revokeObjectURL(url);
}

function CsvButton({ address }: { address: string }) {
  const { query } = useLocation();
  const [isLoading, setLoading] = useState(false);
  const [error, setError] = useState<string>();
  const download = async (): Promise<void> => {
    setLoading(true);
    setError(undefined);
    try {
      await downloadCsv(address, filterOf(query));
    } catch (reason) {
      setError(describeError(reason));
    }
    setLoading(false);
  };
  return (
    <>
      <button
        type="button"
        disabled={isLoading}
        title="All transactions that match, newest first, at most 100,000"
        onClick={() => void download()}
      >
        {isLoading ? 'Preparing CSV…' : 'Download CSV'}
      </button>
      {error !== undefined && (
        <span class="negative" role="alert">
          {error}
        </span>
      )}
    </>
  );
}
