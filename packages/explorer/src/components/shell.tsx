/**
 * The header with search, the state of the stream and navigation, and the footer. They surround
 * every page.
 */
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { formatCount, formatDuration } from '../format.ts';
import { apiKey, forgetKey, needsKey } from '../state/api.ts';
import { now } from '../state/clock.ts';
import { chooseTheme, theme } from '../state/theme.ts';
import { connection, network, refusal, sinkBlueScore, sinkTimestamp } from '../stream/stream.ts';
import { isTyping } from './form.ts';
import { Search } from './search.tsx';

const SECTIONS: readonly (readonly [path: string, title: string])[] = [
  ['/', 'DAG'],
  ['/blocks', 'Blocks'],
  ['/transactions', 'Transactions'],
  ['/mempool', 'Mempool'],
  ['/covenants', 'Covenants'],
  ['/templates', 'Templates'],
  ['/lanes', 'Lanes'],
  ['/protocols', 'Protocols'],
  ['/rich-list', 'Rich list'],
  ['/tags', 'Tags'],
  ['/miners', 'Miners'],
  ['/charts', 'Charts'],
  ['/status', 'Status'],
];

const CONNECTIONS = { connecting: 'Connecting', live: 'Live', lost: 'Reconnecting', refused: 'Refused' } as const;

/**
 * The chain grows every second or faster, so an older sink means that the index is behind or the
 * node is away.
 */
const BEHIND_AFTER_MS = 120_000;

function Connection() {
  const ageMs = now.value - (sinkTimestamp.value ?? now.value);
  return (
    <div class="state">
      {connection.value === 'live' && ageMs > BEHIND_AFTER_MS && (
        <a class="badge warning" href="/status" title="The newest indexed block is this old">
          {formatDuration(ageMs / 1000)} behind
        </a>
      )}
      <span class={`connection ${connection.value}`} role="status">
        {CONNECTIONS[connection.value]}
      </span>
    </div>
  );
}

function Sections({ current }: { current: string }) {
  const bar = useRef<HTMLElement>(null);
  useEffect(() => {
    // On a phone, the current section may be outside of the visible part of the bar.
    const link = bar.current?.querySelector<HTMLElement>('[aria-current]');
    if (bar.current === null || link == null) return;
    const { offsetLeft, clientWidth } = bar.current;
    bar.current.scrollLeft = link.offsetLeft - offsetLeft - (clientWidth - link.offsetWidth) / 2;
  }, [current]);
  return (
    <nav class="sections" aria-label="Sections" ref={bar}>
      {SECTIONS.map(([href, title]) => (
        <a key={href} href={href} aria-current={href === current ? 'page' : undefined}>
          {title}
        </a>
      ))}
    </nav>
  );
}

function ThemeButton() {
  const other = theme.value === 'dark' ? 'light' : 'dark';
  return (
    <button
      type="button"
      class="icon"
      aria-label={`Use the ${other} theme`}
      title={`Use the ${other} theme`}
      onClick={() => chooseTheme(other)}
    >
      <svg viewBox="0 0 20 20" aria-hidden="true">
        {other === 'light' ? (
          <path d="M10 6.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zM10 1.5v2M10 16.5v2M1.5 10h2M16.5 10h2M4 4l1.4 1.4M14.6 14.6L16 16M4 16l1.4-1.4M14.6 5.4L16 4" />
        ) : (
          <path d="M16.5 12.2A7 7 0 0 1 7.8 3.5a7 7 0 1 0 8.7 8.7z" />
        )}
      </svg>
    </button>
  );
}

export function Shell({ children }: { children: ComponentChildren }) {
  const { path, url } = useLocation();
  const [, first = ''] = path.split('/');
  const section = first === 'programs' ? '/templates' : `/${first}`;
  const main = useRef<HTMLElement>(null);
  const shownPath = useRef(path);
  const shownUrl = useRef(url);
  // Before the next key, which may already lead elsewhere.
  useLayoutEffect(() => {
    // The keyboard and screen readers continue at the new page instead of at a link that is gone.
    if (shownPath.current !== path && !isTyping(document.activeElement)) main.current?.focus({ preventScroll: true });
    shownPath.current = path;
  }, [path]);
  useEffect(() => {
    // A link to another page of a listing, or a form of filters, is gone by now.
    const isLost = document.activeElement === document.body;
    if (shownUrl.current !== url && isLost) main.current?.focus({ preventScroll: true });
    shownUrl.current = url;
  }, [url]);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <div class="bar-inner">
          <a class="brand" href="/" aria-label="Kasgres, home">
            <img src="/favicon.svg" alt="" width="28" height="28" />
            <span>Kasgres</span>
          </a>
          {network.value !== undefined && <span class="badge quiet network">{network.value}</span>}
          <Search />
          {!needsKey.value && <Connection />}
          <ThemeButton />
        </div>
        <Sections current={section} />
      </header>
      {connection.value === 'lost' && !needsKey.value && (
        <p class="banner" role="alert">
          The server does not respond or is still indexing the past, so this page may be out of date. It reconnects by
          itself.
        </p>
      )}
      {connection.value === 'refused' && !needsKey.value && (
        <p class="banner" role="alert">
          The server sends no events for this page: {refusal.value}
        </p>
      )}
      <main id="main" tabIndex={-1} ref={main}>
        {children}
      </main>
      <footer class="bottom">
        {sinkBlueScore.value !== undefined && <span>Blue score {formatCount(sinkBlueScore.value)}</span>}
        <a href="/docs">API documentation</a>
        {apiKey.value !== undefined && (
          <button type="button" class="link" onClick={forgetKey}>
            Forget the API key
          </button>
        )}
      </footer>
    </>
  );
}
