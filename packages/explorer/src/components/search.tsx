/** The search box: results as one types, `/` to focus it, arrow keys and Enter to choose. */
import { ApiError, type ResponseBody } from '@kasgres/client';
import { useLocation } from 'preact-iso';
import { useEffect, useRef, useState } from 'preact/hooks';
import { escapeUnseen, formatCount, formatKas, shortAddress, shortHash } from '../format.ts';
import { describeError, request } from '../state/api.ts';
import { network } from '../stream/stream.ts';
import { explainNothing, matchShortened, protocolOf, SHORTENED } from './search-text.ts';
import { isTyping } from './form.ts';

type Result = ResponseBody<'get', '/v1/search'>['results'][number];

const TYPING_PAUSE_MS = 150;
const MAX_LABEL_LENGTH = 50;
/** After which a search is repeated that the API refused for now, as during the first catch-up. */
const RETRY_MS = 2000;

interface Shown {
  kind: string;
  href: string;
  title: string;
  note: string;
}

function toShown(result: Result): Shown {
  switch (result.type) {
    case 'block': {
      const color = result.isChainBlock ? 'chain' : (result.color ?? 'not merged');
      return {
        kind: result.type,
        href: `/blocks/${result.id}`,
        title: shortHash(result.id),
        note: `${color}, blue score ${formatCount(result.blueScore)}`,
      };
    }
    case 'transaction':
      return {
        kind: result.type,
        href: `/transactions/${result.id}`,
        title: shortHash(result.id),
        note: result.isPending ? 'pending' : result.isAccepted ? 'accepted' : 'not accepted',
      };
    case 'address':
      return {
        kind: result.type,
        href: `/addresses/${result.id}`,
        title: result.label === null ? shortAddress(result.id) : `${result.label}, ${shortAddress(result.id)}`,
        note: `${formatKas(result.balance)}, ${formatCount(result.transactionCount)} transactions`,
      };
    case 'covenant':
      return {
        kind: result.type,
        href: `/covenants/${result.id}`,
        title: shortHash(result.id),
        note: `${result.isLive ? formatKas(result.balance) : 'ended'}, ${formatCount(result.eventCount)} events`,
      };
    case 'program':
      return {
        kind: result.type,
        href: `/programs/${result.id}`,
        title: shortHash(result.id),
        note: `${formatCount(result.spendCount)} spends`,
      };
    case 'template':
      return {
        kind: result.type,
        href: `/templates/${result.id}`,
        title: result.label === null ? shortHash(result.id) : `${escapeUnseen(result.label)}, ${shortHash(result.id)}`,
        note: `${formatCount(result.spendCount)} spends`,
      };
    case 'lane':
      return {
        kind: result.type,
        href: `/lanes/${result.id}`,
        title: result.id,
        note: `${formatCount(result.transactionCount)} transactions`,
      };
    case 'tick':
      return {
        kind: result.type,
        href: `/protocols?${new URLSearchParams({ protocol: result.protocol, tick: result.id })}`,
        title: escapeUnseen(result.label),
        note: result.protocol,
      };
    case 'tag':
    default:
      return {
        kind: 'tag',
        href: result.addressCount === 1 ? `/addresses/${result.address}` : `/tags/${encodeURIComponent(result.id)}`,
        title: result.label,
        note: result.addressCount === 1 ? result.labels.join(', ') : `${formatCount(result.addressCount)} addresses`,
      };
  }
}

/** Searches for what the API does not: protocols, labels, and what the page shows shortened. */
async function findElsewhere(query: string): Promise<Shown[]> {
  const onPage = [...document.querySelectorAll<HTMLAnchorElement>('main a[href]')].map((link) => link.pathname);
  const matches = matchShortened(query, onPage).map((href) => {
    const [, kind = '', id = ''] = href.split('/');
    return {
      kind: SHORTENED[kind] ?? kind,
      href,
      title: id.includes(':') ? shortAddress(id) : shortHash(id),
      note: 'on this page',
    };
  });
  if (matches.length > 0) return matches;
  const found = await Promise.all([findProtocol(query), findLabel(query)]);
  return found.flat();
}

async function findProtocol(query: string): Promise<Shown[]> {
  const protocol = protocolOf(query);
  if (protocol === undefined) return [];
  const { inscriptions } = await request((client) =>
    client.get('/v1/inscriptions', { params: { query: { protocol, limit: 1 } } }),
  );
  if (inscriptions.length === 0) return [];
  return [
    { kind: 'protocol', href: `/protocols?${new URLSearchParams({ protocol })}`, title: protocol, note: 'operations' },
  ];
}

async function findLabel(query: string): Promise<Shown[]> {
  if (query.length > MAX_LABEL_LENGTH) return [];
  const { tags } = await request((client) => client.get('/v1/tags', { params: { query: { label: query, limit: 1 } } }));
  if (tags.length === 0) return [];
  return [
    {
      kind: 'label',
      href: `/tags?label=${encodeURIComponent(query)}`,
      title: query,
      note: 'addresses with this label',
    },
  ];
}

export function Search() {
  const { route, url } = useLocation();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [found, setFound] = useState<{ text: string; results: Shown[] } | undefined>();
  const [failure, setFailure] = useState<string>();
  /** Enter was pressed before the results of the text arrived. */
  const isEntered = useRef(false);
  const [chosen, setChosen] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const query = text.trim();

  useEffect(() => {
    const focus = (event: KeyboardEvent): void => {
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      event.preventDefault();
      input.current?.focus();
    };
    document.addEventListener('keydown', focus);
    return () => document.removeEventListener('keydown', focus);
  }, []);

  useEffect(() => {
    setFailure(undefined);
    if (query === '') setFound(undefined);
    if (query === '' || !isOpen) return undefined;
    const aborting = new AbortController();
    const search = async (): Promise<void> => {
      try {
        const response = await request((client) =>
          client.get('/v1/search', { params: { query: { q: query } }, signal: aborting.signal }),
        );
        const results = response.results.length > 0 ? response.results.map(toShown) : await findElsewhere(query);
        if (aborting.signal.aborted) return;
        setFailure(undefined);
        setFound({ text: query, results });
        setChosen(0);
        const [best] = results;
        if (isEntered.current && best !== undefined) open(best.href);
      } catch (error) {
        if (aborting.signal.aborted) return;
        setFailure(describeError(error));
        if (error instanceof ApiError && error.status === 503) timer = setTimeout(() => void search(), RETRY_MS);
      }
    };
    let timer = setTimeout(() => void search(), TYPING_PAUSE_MS);
    return () => {
      clearTimeout(timer);
      aborting.abort();
    };
  }, [query, isOpen]);

  useEffect(() => {
    isEntered.current = false;
  }, [url]);

  const shown = (failure === undefined && found?.results) || [];
  const isShown = isOpen && query !== '';
  const isSearching = failure === undefined && found?.text !== query;

  const open = (href: string): void => {
    setText('');
    setOpen(false);
    input.current?.blur();
    route(href);
  };

  const press = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const step = event.key === 'ArrowDown' ? 1 : shown.length - 1;
      setChosen((old) => (shown.length === 0 ? 0 : (old + step) % shown.length));
    } else if (event.key === 'Enter') {
      event.preventDefault();
      // Enter may come before the last characters are rendered.
      const isFound = failure === undefined && found?.text === input.current?.value.trim();
      const one = isFound ? shown[chosen] : undefined;
      if (one !== undefined) open(one.href);
      isEntered.current = !isFound;
    } else if (event.key === 'Escape') {
      setText('');
      setOpen(false);
      input.current?.blur();
    }
  };

  return (
    <div class="search" role="search">
      <input
        ref={input}
        type="text"
        inputMode="search"
        enterKeyHint="search"
        role="combobox"
        aria-label="Search blocks, transactions, addresses, tags, covenants and programs"
        aria-expanded={isShown}
        aria-controls="search-results"
        aria-autocomplete="list"
        aria-activedescendant={isShown && shown.length > 0 ? `result-${chosen}` : undefined}
        placeholder="Hash, address, score or name"
        autocomplete="off"
        spellcheck={false}
        value={text}
        onInput={({ currentTarget }) => {
          isEntered.current = false;
          setText(currentTarget.value);
          setOpen(true);
        }}
        onFocus={() => setOpen(true)}
        onBlur={() => {
          isEntered.current = false;
          setOpen(false);
        }}
        onKeyDown={press}
      />
      <kbd aria-hidden="true">/</kbd>
      <ul id="search-results" role="listbox" aria-label="Results" hidden={!isShown}>
        {shown.map(({ kind, href, title, note }, index) => (
          <li
            key={href}
            id={`result-${index}`}
            role="option"
            aria-selected={index === chosen}
            // Before the box loses its focus, which closes the list.
            onMouseDown={(event) => {
              event.preventDefault();
              open(href);
            }}
            onMouseMove={() => setChosen(index)}
          >
            <span class="kind">{kind}</span>
            <span class="title">{title}</span>
            <span class="note">{note}</span>
          </li>
        ))}
        {isShown && shown.length === 0 && (
          <li role="option" aria-selected={false} aria-disabled="true" class="none">
            {failure ??
              (isSearching
                ? 'Searching…'
                : (explainNothing(query, network.value) ??
                  'Nothing matches. Search for a hash, an address, a score, a name or a label.'))}
          </li>
        )}
      </ul>
    </div>
  );
}
