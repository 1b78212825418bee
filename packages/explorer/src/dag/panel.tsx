/**
 * The picture of the DAG with its legend, controls and the details of the selected block: live, and
 * around one block.
 */
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Load } from '../components/page.tsx';
import { isTyping } from '../components/form.ts';
import { AddressLink, BlockBadge, HashLink, Time } from '../components/values.tsx';
import { formatCount } from '../format.ts';
import { describeError } from '../state/api.ts';
import { now } from '../state/clock.ts';
import { useResource } from '../state/resource.ts';
import { DagModel, type Vertex } from './model.ts';
import { DagPicture } from './picture.tsx';
import { useDag } from './use-dag.ts';

const REORG_SHOWN_MS = 15_000;
const LIVE_HEIGHT_PX = 300;
const AROUND_HEIGHT_PX = 240;
/** DAA scores around a block: some columns on both sides at one and at ten blocks a second. */
const AROUND_SPAN = 120;
const REFRESH_MS = 3000;

interface PanelProps {
  title: string;
  vertex: Vertex | undefined;
  control?: ComponentChildren;
  children: ComponentChildren;
}

function Panel({ title, vertex, control, children }: PanelProps) {
  return (
    <section class="card dag-panel" aria-label="The DAG">
      <header>
        <h2>{title}</h2>
        <ul class="legend" aria-label="Legend">
          <li class="chain">chain</li>
          <li class="blue">blue</li>
          <li class="red">red</li>
          <li class="open">not merged</li>
        </ul>
        {control}
      </header>
      {children}
      <div class="dag-details">
        {vertex === undefined ? <span class="muted">No block yet</span> : <Details vertex={vertex} />}
      </div>
    </section>
  );
}

function Details({ vertex: { block } }: { vertex: Vertex }) {
  return (
    <>
      <HashLink kind="block" hash={block.hash} />
      <BlockBadge {...block} />
      <span>
        <b>{formatCount(block.blueScore)}</b> blue score
      </span>
      <span>
        <b>{formatCount(block.transactionCount)}</b> {block.transactionCount === 1 ? 'transaction' : 'transactions'}
      </span>
      <span>
        <Time ms={block.timestamp} />
      </span>
      {block.minerAddress !== null && (
        <span class="miner">
          mined by <AddressLink address={block.minerAddress} />
        </span>
      )}
    </>
  );
}

export function LiveDag() {
  const [isPaused, setPaused] = useState(false);
  const [selected, setSelected] = useState<string>();
  const { model, version, error, isLoaded, lastReorg, removedCount, reload } = useDag(isPaused);

  useEffect(() => {
    const toggle = (event: KeyboardEvent): void => {
      if (event.key === 'p' && !isTyping(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey)
        setPaused((old) => !old);
    };
    document.addEventListener('keydown', toggle);
    return () => document.removeEventListener('keydown', toggle);
  }, []);

  return (
    <Panel
      title="The DAG, live"
      vertex={model.vertices.get(selected ?? '') ?? model.sink}
      control={
        <button
          type="button"
          aria-pressed={isPaused}
          title="Holds the picture; the key p does the same"
          onClick={() => setPaused(!isPaused)}
        >
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      }
    >
      <div class={`dag-frame ${isLoaded ? '' : 'empty'}`} data-removed={removedCount}>
        <span class="reorg" role="status">
          {lastReorg !== undefined && now.value - lastReorg.at < REORG_SHOWN_MS
            ? `Reorganisation: ${formatCount(lastReorg.removed)} chain ${lastReorg.removed === 1 ? 'block' : 'blocks'} replaced`
            : ''}
        </span>
        <DagPicture
          model={model}
          version={version}
          height={LIVE_HEIGHT_PX}
          isFollowing={!isPaused}
          onSelect={(one) => setSelected(one?.block.hash)}
          onDrag={() => setPaused(true)}
        />
        {!isLoaded && error !== undefined && (
          <div class="notice" role="alert">
            <strong>The DAG could not be loaded.</strong>
            <p>{describeError(error)}</p>
            <button type="button" onClick={reload}>
              Try again
            </button>
          </div>
        )}
      </div>
    </Panel>
  );
}

/** The blocks around one, which stay up to date while they reach the sink. */
export function DagAround({ hash }: { hash: string }) {
  const [selected, setSelected] = useState<string>();
  const isGrowing = useRef(true);
  const resource = useResource(
    `DAG around ${hash}`,
    (client) => client.get('/v1/dag', { params: { query: { around: hash, span: AROUND_SPAN } } }),
    { refreshMs: isGrowing.current ? REFRESH_MS : undefined },
  );
  const { data } = resource;
  isGrowing.current = data === undefined || data.blocks.some((block) => block.hash === data.sink);
  const version = useRef(0);
  const model = useMemo(() => {
    version.current += 1;
    const next = new DagModel();
    next.add(data?.blocks ?? []);
    return next;
  }, [data]);
  return (
    <Panel title="Position in the DAG" vertex={model.vertices.get(selected ?? '') ?? model.vertices.get(hash)}>
      <div class="dag-frame around">
        <Load resource={resource} rows={6}>
          {() => (
            <DagPicture
              model={model}
              version={version.current}
              height={AROUND_HEIGHT_PX}
              isFollowing={false}
              marked={hash}
              onSelect={(one) => setSelected(one?.block.hash)}
            />
          )}
        </Load>
      </div>
    </Panel>
  );
}
