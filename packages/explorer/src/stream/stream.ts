/**
 * The stream as pages see it: chain changes, new blocks, the mempool and the activity of watched
 * addresses.
 */
import { effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { apiKey } from '../state/api.ts';
import { type PageConnection, StreamHub } from './hub.ts';
import { applyMempoolChange, type Mempool } from './mempool.ts';
import type { AddressChange, ChainChange, DagBlock, FromHub, PageState, ToHub } from './messages.ts';

export interface StreamListener {
  onBegin?: () => void;
  onChain?: (change: ChainChange) => void;
  onBlock?: (block: DagBlock) => void;
  onAddress?: (event: AddressChange) => void;
}

export const connection = signal<'connecting' | 'live' | 'lost' | 'refused'>('connecting');

/** Why the server refuses the stream of this page; undefined unless it does. */
export const refusal = signal<string | undefined>(undefined);

/**
 * The name of the network, such as `mainnet`; undefined until the stream begins, like the following
 * ones.
 */
export const network = signal<string | undefined>(undefined);
export const sinkBlueScore = signal<number | undefined>(undefined);
/** When the sink was mined, in Unix milliseconds. */
export const sinkTimestamp = signal<number | undefined>(undefined);

/**
 * The mempool while a component uses it; undefined until its snapshot arrives, and while the server
 * or its node is away.
 */
const mempool = signal<Mempool | undefined>(undefined);
const mempoolUsers = signal(0);

const listeners = new Set<StreamListener>();
const watched = new Map<string, number>();
const isVisible = signal(document.visibilityState === 'visible');
const addresses = signal<readonly string[]>([]);

let page: PageConnection | undefined;

/**
 * Data that is loaded later than this is loaded before the stream begins, and again when it does.
 */
const BEGIN_WITHIN_MS = 600;

let hasBegun = (): void => undefined;
const beginning = new Promise<void>((resolve) => {
  hasBegun = resolve;
});

/**
 * The resources that the stream loaded when it began, by the key of the resource, until the chain
 * changes: pages need not load it again.
 */
export const loadedByStream = new Map<string, unknown>();

/**
 * Resolves once the stream has begun or failed, or takes too long: what is loaded after the
 * beginning need not be loaded again.
 */
export const untilBegun = (): Promise<void> =>
  Promise.race([beginning, new Promise<void>((resolve) => setTimeout(resolve, BEGIN_WITHIN_MS))]);

function receive(message: FromHub): void {
  hasBegun();
  refusal.value = message.type === 'refused' ? message.message : undefined;
  if (message.type === 'refused') {
    connection.value = 'refused';
    mempool.value = undefined;
    return;
  }
  if (message.type === 'connection') {
    connection.value = message.isLost ? 'lost' : 'live';
    if (message.isLost) mempool.value = undefined;
    return;
  }
  connection.value = 'live';
  if (message.type === 'begin') {
    if (message.loaded !== undefined) loadedByStream.set('network', message.loaded);
    network.value = message.sink.network;
    setSink(message.sink);
    for (const { onBegin } of listeners) onBegin?.();
    return;
  }
  for (const { event, data } of message.events) {
    if (event === 'mempool') mempool.value = applyMempoolChange(mempool.value, data);
    if (event === 'chain') {
      setSink(data.added.at(-1));
      loadedByStream.clear();
    }
    for (const listener of listeners) {
      if (event === 'chain') listener.onChain?.(data);
      else if (event === 'block') listener.onBlock?.(data);
      else if (event === 'address') listener.onAddress?.(data);
    }
  }
}

function setSink(sink: { blueScore: string; timestamp: number } | undefined): void {
  if (sink === undefined) return;
  sinkBlueScore.value = Number(sink.blueScore);
  sinkTimestamp.value = sink.timestamp;
}

function connect(): PageConnection {
  if (typeof SharedWorker === 'undefined') return new StreamHub(location.origin).connect(receive);
  const worker = new SharedWorker(new URL('./worker.ts', import.meta.url), { type: 'module', name: 'kasgres' });
  worker.port.addEventListener('message', ({ data }: MessageEvent<FromHub>) => receive(data));
  worker.port.start();
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A port leads to one worker, so it takes no origin.
  const post = (message: ToHub): void => worker.port.postMessage(message);
  return { update: (state: PageState) => post({ type: 'state', state }), close: () => post({ type: 'close' }) };
}

/** Opens the stream while the page is visible. Called once. */
export function startStream(): void {
  page = connect();
  document.addEventListener('visibilitychange', () => {
    isVisible.value = document.visibilityState === 'visible';
  });
  window.addEventListener('pagehide', () => page?.close());
  // The page returns from the back-forward cache.
  window.addEventListener('pageshow', ({ persisted }) => {
    if (persisted) location.reload();
  });
  effect(() => {
    const wantsMempool = mempoolUsers.value > 0;
    page?.update({ isVisible: isVisible.value, apiKey: apiKey.value, addresses: addresses.value, wantsMempool });
  });
}

export function useStream(listener: StreamListener): void {
  const current = useRef(listener);
  current.current = listener;
  useEffect(() => {
    const forwarding: StreamListener = {
      onBegin: () => current.current.onBegin?.(),
      onChain: (change) => current.current.onChain?.(change),
      onBlock: (block) => current.current.onBlock?.(block),
      onAddress: (event) => current.current.onAddress?.(event),
    };
    listeners.add(forwarding);
    return () => {
      listeners.delete(forwarding);
    };
  }, []);
}

/** Calls `onChange` when the chain changes, and when the stream begins again. */
export const useChain = (onChange: () => void): void => useStream({ onBegin: onChange, onChain: onChange });

/** Receives the activity of an address while the component is shown. */
export function useAddressStream(address: string, onAddress: (event: AddressChange) => void): void {
  useStream({ onAddress: (event) => event.address === address && onAddress(event) });
  useEffect(() => {
    watched.set(address, (watched.get(address) ?? 0) + 1);
    addresses.value = [...watched.keys()];
    return () => {
      const count = (watched.get(address) ?? 1) - 1;
      if (count === 0) watched.delete(address);
      else watched.set(address, count);
      addresses.value = [...watched.keys()];
    };
  }, [address]);
}

/** Returns the mempool, kept up to date by the stream; undefined while the stream does not tell. */
export function useMempool(): Mempool | undefined {
  useEffect(() => {
    mempoolUsers.value += 1;
    return () => {
      mempoolUsers.value -= 1;
      if (mempoolUsers.value === 0) mempool.value = undefined;
    };
  }, []);
  return mempool.value;
}
