/**
 * The parts of pages: headings, cards, lists of facts, tables, pages of listings, and what is shown
 * until data arrives.
 */
import { ApiError } from '@kasgres/client';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso';
import { useEffect, useRef } from 'preact/hooks';
import { formatPercent } from '../format.ts';
import { describeError } from '../state/api.ts';
import type { Resource } from '../state/resource.ts';

interface PageProps {
  title: string;
  /** The heading, if it says more than the title of the window. */
  heading?: ComponentChildren;
  aside?: ComponentChildren;
  children: ComponentChildren;
}

export function Page({ title, heading = title, aside, children }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Kasgres`;
  }, [title]);
  return (
    <>
      <div class="page-head">
        <h1>{heading}</h1>
        {aside}
      </div>
      {children}
    </>
  );
}

interface CardProps {
  title?: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
}

export function Card({ title, aside, children }: CardProps) {
  return (
    <section class="card">
      {title !== undefined && (
        <header>
          <h2>{title}</h2>
          {aside}
        </header>
      )}
      {children}
    </section>
  );
}

export type Fact = readonly [term: string, description: ComponentChildren] | false | null;

export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl class="facts">
      {facts.map(
        (fact) =>
          fact !== null &&
          fact !== false && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  );
}

export function Stat({ label, value, note }: { label: string; value: ComponentChildren; note?: ComponentChildren }) {
  return (
    <div class="stat">
      <dt>{label}</dt>
      <dd>
        <span class="figure">{value}</span>
        {note !== undefined && <span class="note">{note}</span>}
      </dd>
    </div>
  );
}

export interface Column<Row> {
  title: string;
  /** Numbers are aligned at the right. */
  isNumber?: boolean;
  /** Left out on phones. */
  isMinor?: boolean;
  cell: (row: Row, index: number) => ComponentChildren;
}

interface TableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty: string;
  /** Highlights rows that arrive after the first ones. */
  isLive?: boolean;
}

export function Table<Row>({ caption, columns, rows, keyOf, empty, isLive = false }: TableProps<Row>) {
  const first = useRef<ReadonlySet<string> | undefined>(undefined);
  first.current ??= new Set(rows.map(keyOf));
  if (rows.length === 0) return <p class="empty">{empty}</p>;
  const classOf = ({ isNumber, isMinor }: Column<Row>): string =>
    `${isNumber === true ? 'number' : ''} ${isMinor === true ? 'minor' : ''}`.trim();
  return (
    // Scrollable regions must be reachable with the keyboard.
    <div class="table" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={classOf(column)} key={column.title}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row)} class={isLive && first.current?.has(keyOf(row)) === false ? 'fresh' : undefined}>
              {columns.map((column) => (
                <td class={classOf(column)} key={column.title}>
                  {column.cell(row, index)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface LoadProps<Data> {
  resource: Resource<Data>;
  /** Rows that the data will take, so that the page does not jump. */
  rows?: number;
  notFound?: string;
  children: (data: Data) => ComponentChildren;
}

export function Load<Data>({ resource: { data, error, reload }, rows = 6, notFound, children }: LoadProps<Data>) {
  if (data !== undefined) {
    return (
      <>
        {/* The header tells of a server that does not respond. */}
        {error instanceof ApiError && (
          <p class="notice" role="alert">
            This may be out of date: {describeError(error)}
          </p>
        )}
        {children(data)}
      </>
    );
  }
  if (error === undefined) return <Skeleton rows={rows} />;
  const isMissing = error instanceof ApiError && (error.status === 404 || error.status === 400);
  if (isMissing && notFound !== undefined) {
    return (
      <div class="notice" role="alert">
        <strong>{notFound}</strong>
        <p>{describeError(error).replace(/\.?$/, '.')}</p>
        {error.status === 404 && <a href="/status">See which part of the chain is indexed</a>}
      </div>
    );
  }
  return (
    <div class="notice" role="alert">
      <strong>This could not be loaded.</strong>
      <p>{describeError(error)}</p>
      <button type="button" onClick={reload}>
        Try again
      </button>
    </div>
  );
}

function Skeleton({ rows }: { rows: number }) {
  return (
    <div class="skeleton" role="status">
      <span class="hidden">Loading</span>
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} />
      ))}
    </div>
  );
}

/** Returns the path of this page with other parameters; undefined removes one. */
export function useHref(): (changes: Record<string, string | undefined>) => string {
  const { path, query } = useLocation();
  return (changes) => {
    const kept = Object.entries({ ...query, ...changes }).filter((entry): entry is [string, string] => !!entry[1]);
    const text = new URLSearchParams(kept).toString();
    return text === '' ? path : `${path}?${text}`;
  };
}

/** Returns the position of a listing from the address of the page. */
export function useCursor(): { starting_after?: string; ending_before?: string } {
  const { query } = useLocation();
  if (query['after'] !== undefined) return { starting_after: query['after'] };
  return query['before'] === undefined ? {} : { ending_before: query['before'] };
}

interface PagerProps {
  metadata: { hasMore: boolean; scannedTo?: string };
  first: string | undefined;
  last: string | undefined;
  /** The names of the directions. */
  labels?: readonly [previous: string, next: string];
}

export function Pager({ metadata, first: firstItem, last: lastItem, labels = ['Newer', 'Older'] }: PagerProps) {
  const href = useHref();
  const { starting_after: after, ending_before: before } = useCursor();
  // A page may end, maybe without an item, where its filter has dropped many.
  const first = before === undefined ? firstItem : (metadata.scannedTo ?? firstItem);
  const last = before === undefined ? (metadata.scannedTo ?? lastItem) : lastItem;
  const hasNext = before !== undefined || metadata.hasMore;
  const hasPrevious = after !== undefined || (before !== undefined && metadata.hasMore);
  if (!hasNext && !hasPrevious) return null;
  return (
    <nav class="pager" aria-label="Pages" onClick={showTop}>
      {hasPrevious && <a href={href({ after: undefined, before: undefined })}>First</a>}
      {hasPrevious && first !== undefined && <a href={href({ after: undefined, before: first })}>← {labels[0]}</a>}
      {hasNext && last !== undefined && <a href={href({ after: last, before: undefined })}>{labels[1]} →</a>}
    </nav>
  );
}

/** Other pages of a listing are read from their top. */
export function showTop({ target, currentTarget, ctrlKey, metaKey, shiftKey }: MouseEvent): void {
  if (target === currentTarget || ctrlKey || metaKey || shiftKey) return;
  (currentTarget as Element).closest('.card')?.scrollIntoView();
}

/**
 * Rows do not move under the reader: newer ones are shown on request. The button keeps its place
 * while it is hidden.
 */
export function NewerButton({ isShown, onClick }: { isShown: boolean; onClick: () => void }) {
  return (
    <button type="button" class="newer" style={{ visibility: isShown ? 'visible' : 'hidden' }} onClick={onClick}>
      Show newer
    </button>
  );
}

interface TabsProps {
  label: string;
  parameter: string;
  /** Other parameters of the page that a choice removes: the positions of listings by default. */
  clears?: readonly string[];
  tabs: readonly (readonly [name: string, title: string])[];
  current: string;
  /** Whether the first one needs no parameter; true by default. */
  hasDefault?: boolean;
}

const POSITIONS = ['after', 'before'];

/** Choices that are part of the address of the page. */
export function Tabs({ label, parameter, clears = POSITIONS, tabs, current, hasDefault = true }: TabsProps) {
  const href = useHref();
  const cleared = Object.fromEntries(clears.map((name) => [name, undefined]));
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(([name, title], index) => (
        <a
          key={name}
          href={href({ ...cleared, [parameter]: hasDefault && index === 0 ? undefined : name })}
          aria-current={name === current ? 'page' : undefined}
        >
          {title}
        </a>
      ))}
    </nav>
  );
}

interface ShareProps {
  /** From 0 to 1. */
  share: number;
  /** The share as a percentage by default. */
  text?: string;
}

/** A number with a bar, which phones have no space for. */
export function Share({ share, text = formatPercent(share) }: ShareProps) {
  return (
    <span class="share">
      <Bar share={share} />
      {text}
    </span>
  );
}

/** A share as a bar. */
export function Bar({ share }: { share: number }) {
  return (
    <span class="bar" aria-hidden="true">
      <span style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
    </span>
  );
}
