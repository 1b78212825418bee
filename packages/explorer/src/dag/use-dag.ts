/** The live DAG: a window of recent blocks, kept up to date by the stream. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ResponseBody } from '@kasgres/client';
import { request } from '../state/api.ts';
import { serverNow } from '../state/clock.ts';
import type { ChainChange, DagBlock } from '../stream/messages.ts';
import { untilBegun, useStream } from '../stream/stream.ts';
import { DagModel } from './model.ts';

/** Columns that stay in the picture and can be reached with the keyboard. */
const MAX_COLUMNS = 120;
/** Changes that arrive together are drawn together. */
const DRAW_MS = 120;
/** While paused, no more than this is kept; after a longer pause the picture is loaded again. */
const MAX_HELD = 2000;

type Change = { block: DagBlock } | { chain: ChainChange };

export interface Reorg {
  /** Chain blocks that were removed. */
  removed: number;
  at: number;
}

export interface LiveDag {
  model: DagModel;
  /** Grows with each change of the model. */
  version: number;
  error: Error | undefined;
  isLoaded: boolean;
  lastReorg: Reorg | undefined;
  /** Chain blocks that reorganisations have removed since the page was opened. */
  removedCount: number;
  reload: () => void;
}

export function useDag(isPaused: boolean): LiveDag {
  const model = useRef(new DagModel());
  const held = useRef<Change[]>([]);
  const isStale = useRef(false);
  const isLoading = useRef(false);
  const isWaiting = useRef(true);
  const drawing = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  const isPausedNow = useRef(isPaused);
  isPausedNow.current = isPaused;
  const [version, setVersion] = useState(0);
  const [error, setError] = useState<Error>();
  const [lastReorg, setLastReorg] = useState<Reorg>();
  const removedCount = useRef(0);

  /** While paused, a picture stays as it is. One that was never loaded is not held. */
  const isHeld = (): boolean => isPausedNow.current && model.current.vertices.size > 0;

  const show = ({ blocks, sink }: ResponseBody<'get', '/v1/dag'>): void => {
    const connected = model.current.connect(blocks);
    const isConnected = connected.some(({ hash }) => hash === sink);
    // After a long pause, or a reorganisation from before the picture, nothing connects them.
    if (!isConnected) model.current = new DagModel();
    model.current.add(isConnected ? connected : blocks);
    model.current.prune(MAX_COLUMNS);
    setVersion((old) => old + 1);
  };

  const load = async (): Promise<void> => {
    if (isLoading.current) {
      isStale.current = true;
      return;
    }
    isLoading.current = true;
    isStale.current = false;
    try {
      const window = await request((client) => client.get('/v1/dag'));
      // It may have blocks that came after the beginning of a pause.
      if (isHeld()) isStale.current = true;
      else show(window);
      setError(undefined);
    } catch (reason) {
      setError(reason instanceof Error ? reason : new Error(String(reason)));
    }
    isLoading.current = false;
    // Changes that arrived meanwhile may be newer than the window.
    if (held.current.length > 0 || isStale.current) draw();
  };
  const reload = (): void => void load();

  const draw = (): void => {
    drawing.current = undefined;
    if (isLoading.current || isPausedNow.current) return;
    const before = model.current.removedCount;
    for (const change of held.current.splice(0)) {
      if ('block' in change) {
        const connected = model.current.connect([change.block]);
        if (connected.length === 0) isStale.current = true;
        else model.current.add(connected);
      } else if (!model.current.applyChain(change.chain)) isStale.current = true;
    }
    model.current.prune(MAX_COLUMNS);
    const removed = model.current.removedCount - before;
    removedCount.current += removed;
    if (removed > 0) setLastReorg({ removed, at: serverNow() });
    setVersion((old) => old + 1);
    // A block of the chain is missing, such as one that was indexed before the stream began.
    if (isStale.current) reload();
  };

  const hold = (change: Change): void => {
    held.current.push(change);
    if (held.current.length > MAX_HELD) {
      held.current = [];
      isStale.current = true;
    }
    drawing.current ??= setTimeout(draw, DRAW_MS);
  };

  useStream({
    onBegin: () => {
      if (isWaiting.current) return;
      if (isPausedNow.current) isStale.current = true;
      else reload();
    },
    onBlock: (block) => hold({ block }),
    onChain: (chain) => hold({ chain }),
  });
  useEffect(() => {
    const begin = async (): Promise<void> => {
      await untilBegun();
      isWaiting.current = false;
      reload();
    };
    void begin();
    return () => clearTimeout(drawing.current);
  }, []);
  useEffect(() => {
    if (held.current.length > 0 || isStale.current) draw();
  }, [isPaused]);

  const isLoaded = model.current.vertices.size > 0;
  return {
    model: model.current,
    version,
    error,
    isLoaded,
    lastReorg,
    removedCount: removedCount.current,
    reload,
  };
}
