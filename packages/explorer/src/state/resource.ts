/** Data of a page: loaded from the API, kept on screen while it is loaded again, and refreshed as the chain grows. */
import { ApiError, type Client } from '@kasgres/client';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { useChain } from '../stream/stream.ts';
import { request } from './api.ts';

export interface Resource<Data> {
  data: Data | undefined;
  error: Error | undefined;
  reload: () => void;
}

interface Options {
  /** Smallest time between two loads as the chain grows; undefined: it is loaded once. */
  refreshMs?: number | undefined;
}

/** @param key names the data: another key loads other data */
export function useResource<Data>(
  key: string,
  load: (client: Client) => Promise<Data>,
  { refreshMs }: Options = {},
): Resource<Data> {
  const [state, setState] = useState<{ key: string; data?: Data; error?: Error }>({ key });
  const [version, setVersion] = useState(0);
  const loader = useRef(load);
  loader.current = load;
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const loadedAt = useRef(0);

  useEffect(() => {
    let isCurrent = true;
    const run = async (): Promise<void> => {
      try {
        const data = await request(loader.current);
        if (isCurrent) setState({ key, data });
      } catch (error) {
        if (!isCurrent) return;
        const failure = error instanceof Error ? error : new Error(String(error));
        // A failed refresh keeps what is shown, unless the data no longer exists.
        const isGone = failure instanceof ApiError && failure.status === 404;
        setState((old) => (old.key === key && old.data !== undefined && !isGone ? old : { key, error: failure }));
      } finally {
        loadedAt.current = performance.now();
      }
    };
    void run();
    return () => {
      isCurrent = false;
    };
  }, [key, version]);

  useEffect(() => () => clearTimeout(timer.current), []);
  useChain(() => {
    if (refreshMs === undefined || timer.current !== undefined) return;
    const waitMs = Math.max(0, loadedAt.current + refreshMs - performance.now());
    timer.current = setTimeout(() => {
      timer.current = undefined;
      setVersion((old) => old + 1);
    }, waitMs);
  });

  const reload = useCallback(() => setVersion((old) => old + 1), []);
  const current = state.key === key ? state : undefined;
  return { data: current?.data, error: current?.error, reload };
}

/** Loads the data every `everyMs` while the page is visible: for data of the node, which does not follow the chain. */
export function usePolled<Data>(key: string, load: (client: Client) => Promise<Data>, everyMs: number): Resource<Data> {
  const resource = useResource(key, load);
  const { reload } = resource;
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === 'visible') reload();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs, reload]);
  return resource;
}
