/** What surrounds every page: the header with search and navigation, and the footer with the state of the stream. */
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { formatCount } from '../format.ts';
import { apiKey, forgetKey } from '../state/api.ts';
import { chooseTheme, theme } from '../state/theme.ts';
import { connection, sinkBlueScore } from '../stream/stream.ts';
import { Search } from './search.tsx';

const SECTIONS: readonly (readonly [path: string, title: string])[] = [
  ['/', 'DAG'],
  ['/blocks', 'Blocks'],
  ['/transactions', 'Transactions'],
  ['/mempool', 'Mempool'],
  ['/rich-list', 'Rich list'],
  ['/tags', 'Tags'],
  ['/miners', 'Miners'],
  ['/charts', 'Charts'],
  ['/status', 'Status'],
];

const CONNECTIONS = { connecting: 'Connecting', live: 'Live', lost: 'Reconnecting' } as const;

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
  const { path } = useLocation();
  const section = `/${path.split('/')[1] ?? ''}`;
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
          <Search />
          <ThemeButton />
        </div>
        <nav class="sections" aria-label="Sections">
          {SECTIONS.map(([href, title]) => (
            <a key={href} href={href} aria-current={href === section ? 'page' : undefined}>
              {title}
            </a>
          ))}
        </nav>
      </header>
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <footer class="bottom">
        <span class={`connection ${connection.value}`} role="status">
          {CONNECTIONS[connection.value]}
        </span>
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
