/** The live picture with its controls, legend and the details of the selected block. */
import { useEffect, useState } from 'preact/hooks';
import { AddressLink, BlockBadge, HashLink, Time } from '../components/values.tsx';
import { formatCount } from '../format.ts';
import { now } from '../state/clock.ts';
import type { Vertex } from './model.ts';
import { DagPicture } from './picture.tsx';
import { useDag } from './use-dag.ts';

const REORG_SHOWN_MS = 15_000;
const HEIGHT_PX = 300;

export function DagPanel() {
  const [isPaused, setPaused] = useState(false);
  const [selected, setSelected] = useState<string>();
  const { model, version, error, isLoaded, lastReorg, reload } = useDag(isPaused);
  const vertex = model.vertices.get(selected ?? '') ?? model.sink;

  useEffect(() => {
    const toggle = (event: KeyboardEvent): void => {
      if (event.key === 'p' && event.target === document.body && !event.ctrlKey && !event.metaKey)
        setPaused((old) => !old);
    };
    document.addEventListener('keydown', toggle);
    return () => document.removeEventListener('keydown', toggle);
  }, []);

  return (
    <section class="card dag-panel" aria-label="The DAG">
      <header>
        <h2>The DAG, live</h2>
        <ul class="legend" aria-label="Legend">
          <li class="chain">chain</li>
          <li class="blue">blue</li>
          <li class="red">red</li>
          <li class="open">not merged</li>
        </ul>
        <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
          {isPaused ? 'Resume' : 'Pause'}
        </button>
      </header>
      <div class={`dag-frame ${isLoaded ? '' : 'empty'}`} data-removed={model.removedCount}>
        <span class="reorg" role="status">
          {lastReorg !== undefined && now.value - lastReorg.at < REORG_SHOWN_MS
            ? `Reorganisation: ${formatCount(lastReorg.removed)} chain ${lastReorg.removed === 1 ? 'block' : 'blocks'} replaced`
            : ''}
        </span>
        <DagPicture
          model={model}
          version={version}
          height={HEIGHT_PX}
          isFollowing={!isPaused}
          onSelect={(one: Vertex | undefined) => setSelected(one?.block.hash)}
        />
        {!isLoaded && error !== undefined && (
          <div class="notice" role="alert">
            <strong>The DAG could not be loaded.</strong>
            <p>{error.message}</p>
            <button type="button" onClick={reload}>
              Try again
            </button>
          </div>
        )}
      </div>
      <div class="dag-details">
        {vertex === undefined ? (
          <span class="muted">No block yet</span>
        ) : (
          <>
            <HashLink kind="block" hash={vertex.block.hash} />
            <BlockBadge {...vertex.block} />
            <span>
              <b>{formatCount(vertex.block.blueScore)}</b> blue score
            </span>
            <span>
              <b>{formatCount(vertex.block.transactionCount)}</b>{' '}
              {vertex.block.transactionCount === 1 ? 'transaction' : 'transactions'}
            </span>
            <span>
              <Time ms={vertex.block.timestamp} />
            </span>
            {vertex.block.minerAddress !== null && (
              <span class="miner">
                mined by <AddressLink address={vertex.block.minerAddress} />
              </span>
            )}
          </>
        )}
      </div>
    </section>
  );
}
