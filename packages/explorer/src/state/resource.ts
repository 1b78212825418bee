/**
 * Data of a page: loaded from the API, kept on screen while it is loaded again, and refreshed as
 * the chain grows.
 */
import { ApiError, type Client } from '@kasgres/client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { connection, loadedByStream, untilBegun, useChain } from '../stream/stream.ts';
import { apiKey, request } from './api.ts';

export interface Resource<Data> {
  data: Data | undefined;
  /** Why the last load failed. Data of an earlier one is kept. */
  error: Error | undefined;
  /**
   * Loads the data again, and drops the result of a load that is in flight. Does nothing before the
   * first load.
   */
  reload: () => void;
  /** Loads the data again unless a load is in flight. */
  refresh: () => void;
}

interface Options {
  /** Smallest time between two loads as the chain grows; undefined: it is loaded once. */
  refreshMs?: number | undefined;
}

/** Without the stream, data is refreshed by the clock. */
const REFRESH_WITHOUT_STREAM_MS = 10_000;
const MAX_CACHED = 50;

/**
 * The latest data by key, so that a page that is opened again shows something at once. It is loaded
 * again nevertheless.
 */
const cache = new Map<string, unknown>();
export const forgetData = (): void => cache.clear();

// One key must not show what another one loaded.
apiKey.subscribe(forgetData);

function remember(key: string, data: unknown): void {
  cache.delete(key);
  cache.set(key, data);
  const oldest = cache.keys().next();
  if (cache.size > MAX_CACHED && oldest.done !== true) cache.delete(oldest.value);
}

/** @param key names the data: another key loads other data */
export function useResource<Data>(
  key: string,
  load: (client: Client) => Promise<Data>,
  { refreshMs }: Options = {},
): Resource<Data> {
  const [state, setState] = useState<{ key: string; data?: Data; error?: Error }>();
  const [version, setVersion] = useState(0);
  const loader = useRef(load);
  loader.current = load;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const loadedAt = useRef(0);
  const isLoading = useRef(false);
  /** Whether the first load has not begun yet. */
  const isWaiting = useRef(true);
  /** Whether the chain grew while the data was loaded. */
  const isStale = useRef(false);
  const reload = useCallback(() => {
    if (!isWaiting.current) setVersion((old) => old + 1);
  }, []);
  const refresh = useCallback(() => {
    if (!isLoading.current) reload();
  }, []);
  const scheduleReload = (): void => {
    if (refreshMs === undefined || timer.current !== undefined) return;
    const waitMs = Math.max(0, loadedAt.current + refreshMs - performance.now());
    timer.current = setTimeout(reload, waitMs);
  };

  useEffect(() => {
    let isCurrent = true;
    clearTimeout(timer.current);
    timer.current = undefined;
    isLoading.current = true;
    isStale.current = false;
    const run = async (): Promise<void> => {
      if (isWaiting.current) {
        await untilBegun();
        isWaiting.current = false;
      }
      if (!isCurrent) return;
      try {
        const data = loadedByStream.has(key) ? (loadedByStream.get(key) as Data) : await request(loader.current);
        loadedByStream.delete(key);
        remember(key, data);
        if (isCurrent) setState({ key, data });
      } catch (error) {
        if (!isCurrent) return;
        const failure = error instanceof Error ? error : new Error(String(error));
        // A failed refresh keeps what is shown, unless the data no longer exists.
        const isGone = failure instanceof ApiError && failure.status === 404;
        if (isGone) cache.delete(key);
        setState((old) => {
          const shown = old?.key === key ? old.data : (cache.get(key) as Data | undefined);
          return shown !== undefined && !isGone ? { key, data: shown, error: failure } : { key, error: failure };
        });
      } finally {
        if (isCurrent) {
          isLoading.current = false;
          loadedAt.current = performance.now();
          if (isStale.current) scheduleReload();
        }
      }
    };
    void run();
    return () => {
      isCurrent = false;
    };
  }, [key, version]);

  useEffect(() => () => clearTimeout(timer.current), []);
  useChain(() => {
    if (isWaiting.current) return;
    if (isLoading.current) isStale.current = true;
    else scheduleReload();
  });

  const current = state?.key === key ? state : undefined;
  const hasFailed = current?.error !== undefined;
  const isLost = connection.value === 'lost' || connection.value === 'refused';
  useEffect(() => {
    if (!isLost && hasFailed) reload();
    if (!isLost || refreshMs === undefined) return undefined;
    return everyWhileVisible(refresh, Math.max(refreshMs, REFRESH_WITHOUT_STREAM_MS));
  }, [isLost]);

  const data = current === undefined ? (cache.get(key) as Data | undefined) : current.data;
  return { data, error: current?.error, reload, refresh };
}

function everyWhileVisible(run: () => void, everyMs: number): () => void {
  const timer = setInterval(() => {
    if (document.visibilityState === 'visible') run();
  }, everyMs);
  return () => clearInterval(timer);
}

/**
 * Loads the data every `everyMs` while the page is visible, unless it is undefined: for data of the
 * node, which does not follow the chain.
 */
export function usePolled<Data>(
  key: string,
  load: (client: Client) => Promise<Data>,
  everyMs: number | undefined,
): Resource<Data> {
  const resource = useResource(key, load);
  const { refresh } = resource;
  useEffect(() => {
    return everyMs === undefined ? undefined : everyWhileVisible(refresh, everyMs);
  }, [everyMs, refresh]);
  return resource;
}
