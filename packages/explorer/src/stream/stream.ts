/** The stream as pages see it: chain changes, new blocks and the activity of watched addresses. */
import { effect, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { apiKey } from '../state/api.ts';
import { type PageConnection, StreamHub } from './hub.ts';
import type { AddressEvent, ChainChange, DagBlock, FromHub, PageState, ToHub } from './messages.ts';

export interface StreamListener {
  onBegin?: () => void;
  onChain?: (change: ChainChange) => void;
  onBlock?: (block: DagBlock) => void;
  onAddress?: (event: AddressEvent) => void;
}

export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');

/** Blue score of the sink, from the stream or from a response; undefined until the first one. */
export const sinkBlueScore = signal<number | undefined>(undefined);

const listeners = new Set<StreamListener>();
const watched = new Map<string, number>();
const isVisible = signal(document.visibilityState === 'visible');
const addresses = signal<readonly string[]>([]);

let page: PageConnection | undefined;

function receive(message: FromHub): void {
  if (message.type === 'refused') {
    connection.value = 'lost';
    return;
  }
  connection.value = 'live';
  if (message.type === 'begin') {
    for (const { onBegin } of listeners) onBegin?.();
    return;
  }
  for (const { event, data } of message.events) {
    if (event === 'chain') {
      const top = data.added.at(-1);
      if (top !== undefined) sinkBlueScore.value = Number(top.blueScore);
    }
    for (const listener of listeners) {
      if (event === 'chain') listener.onChain?.(data);
      else if (event === 'block') listener.onBlock?.(data);
      else listener.onAddress?.(data);
    }
  }
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
    page?.update({ isVisible: isVisible.value, apiKey: apiKey.value, addresses: addresses.value });
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
export function useAddressStream(address: string, onAddress: (event: AddressEvent) => void): void {
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
