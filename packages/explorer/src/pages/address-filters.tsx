/** Filters of the transactions of an address, which are part of the address of the page. */
import { useLocation } from 'preact-iso';
import { readForm } from '../components/form.ts';
import { useHref } from '../components/page.tsx';

const NAMES = ['direction', 'min', 'from', 'to'] as const;

export function AddressFilters() {
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
          {['', 'received', 'sent'].map((name) => (
            <option key={name} value={name} selected={name === (query['direction'] ?? '')}>
              {name === '' ? 'Both' : name}
            </option>
          ))}
        </select>
      </label>
      <label>
        At least, KAS{' '}
        <input
          name="min"
          inputMode="decimal"
          pattern="\d{1,11}([.,]\d{1,8})?"
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
      <button type="submit">Filter</button>
      {isFiltered && <a href={href({ ...none, after: undefined, before: undefined })}>Clear</a>}
    </form>
  );
}
