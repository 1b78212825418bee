/**
 * The picture of the DAG as SVG. Each block is a link; one of them is in the tab order, and arrow
 * keys move along parents, children and lanes. The live picture follows the sink, and stands still
 * while a block is pointed at or has the focus. Others have a marked block in their middle. Both
 * can be dragged sideways.
 */
import { useLocation } from 'preact-iso';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { formatCount, shortHash } from '../format.ts';
import type { DagModel, Vertex } from './model.ts';
import { neighbourOf } from './neighbours.ts';

const COLUMN_PX = 58;
const LANE_PX = 62;
const SIZE_PX = 24;
const MARGIN_PX = 40;

interface Props {
  model: DagModel;
  version: number;
  height: number;
  isFollowing: boolean;
  /** Hash of the block whose page this is. */
  marked?: string;
  onSelect: (vertex: Vertex | undefined) => void;
  /** The picture has been dragged away from where it was. */
  onDrag?: () => void;
}

/** A shorter way of the pointer is a click. */
const DRAG_PX = 6;

const nameOf = ({ block }: Vertex): string => {
  const state = block.isChainBlock ? 'chain block' : block.color === null ? 'not merged' : `${block.color} block`;
  return `${shortHash(block.hash)}, ${state}, blue score ${formatCount(block.blueScore)}, ${block.transactionCount} transactions`;
};

const classOf = ({ block }: Vertex): string => `block ${block.isChainBlock ? 'chain' : (block.color ?? 'open')}`;

export function DagPicture({ model, version, height, isFollowing, marked, onSelect, onDrag }: Props) {
  const { route } = useLocation();
  const svg = useRef<SVGSVGElement>(null);
  const [width, setWidth] = useState(0);
  const [focused, setFocused] = useState<string>();
  const [isPointed, setPointed] = useState(false);
  const [, setDrags] = useState(0);
  const redraw = (): void => setDrags((old) => old + 1);
  const centre = useRef(0);
  /**
   * The marked block and width that the picture was centred for, so that it can be dragged away
   * from there.
   */
  const centredFor = useRef('');
  const drag = useRef<{ pointerX: number; centre: number; isMoving: boolean } | undefined>(undefined);

  useLayoutEffect(() => {
    const element = svg.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);

  const { vertices, sink } = model;
  const ordered = useMemo(() => [...vertices.values()].sort((a, b) => a.x - b.x || a.lane - b.lane), [model, version]);
  const lanes = ordered.reduce((most, { lane }) => Math.max(most, Math.abs(lane)), 2);
  const lanePx = Math.min(LANE_PX, (height / 2 - SIZE_PX) / lanes);
  const rightmost = ordered.at(-1)?.x ?? 0;

  const toX = (x: number): number => x * COLUMN_PX;
  const toY = (lane: number): number => height / 2 + lane * lanePx;

  // Standing still keeps the position; a focused block outside of the picture is brought into it.
  const held = focused === undefined ? undefined : vertices.get(focused);
  const middle = vertices.get(marked ?? '');
  const centring = `${marked} ${width}`;
  if (middle !== undefined && centredFor.current !== centring) {
    centre.current = toX(middle.x);
    centredFor.current = centring;
  } else if (held !== undefined && drag.current?.isMoving !== true) {
    const half = width / 2 - MARGIN_PX;
    centre.current = Math.min(Math.max(centre.current, toX(held.x) - half), toX(held.x) + half);
  } else if (isFollowing && !isPointed) {
    centre.current = toX(rightmost) - width / 2 + MARGIN_PX;
  }
  const shift = width / 2 - centre.current;
  const firstShown = (centre.current - width / 2) / COLUMN_PX - 2;
  const lastShown = (centre.current + width / 2) / COLUMN_PX + 2;
  const shown = ordered.filter(({ x }) => x >= firstShown && x <= lastShown);

  const entry = held ?? middle ?? sink ?? ordered.at(-1);

  const startDrag = ({ button, clientX }: PointerEvent): void => {
    if (button === 0) drag.current = { pointerX: clientX, centre: centre.current, isMoving: false };
  };
  const moveDrag = (event: PointerEvent): void => {
    const started = drag.current;
    if (started === undefined || event.buttons === 0) return;
    const way = event.clientX - started.pointerX;
    if (!started.isMoving && Math.abs(way) < DRAG_PX) return;
    if (!started.isMoving) {
      started.isMoving = true;
      svg.current?.setPointerCapture(event.pointerId);
      onDrag?.();
    }
    const leftmost = ordered[0]?.x ?? 0;
    centre.current = Math.min(Math.max(started.centre - way, toX(leftmost)), toX(rightmost));
    redraw();
  };
  const endDrag = (): void => {
    // The click that follows must still find that this was a drag.
    setTimeout(() => {
      drag.current = undefined;
      redraw();
    });
  };

  const press = (event: KeyboardEvent, vertex: Vertex): void => {
    if (event.key === 'Escape') {
      (event.currentTarget as SVGElement).blur();
      return;
    }
    const next = neighbourOf(model, vertex, event.key);
    if (next === undefined) return;
    event.preventDefault();
    setFocused(next.block.hash);
    onSelect(next);
  };

  // The next block may be drawn only now that it is selected. The next key may follow at once.
  useLayoutEffect(() => {
    if (focused === undefined || svg.current?.contains(document.activeElement) !== true) return;
    svg.current.querySelector<SVGElement>(`[data-hash="${focused}"]`)?.focus({ preventScroll: true });
  }, [focused]);

  return (
    <svg
      ref={svg}
      class="dag"
      role="group"
      aria-label={`${marked === undefined ? 'Recent blocks' : 'Blocks around this one'}. Arrow keys move between blocks, Enter opens one.`}
      height={height}
      onPointerDown={startDrag}
      onPointerMove={moveDrag}
      onPointerUp={endDrag}
      onPointerCancel={endDrag}
      onDragStart={(event) => event.preventDefault()}
      // A finger that has been lifted does not point.
      onPointerEnter={({ pointerType }) => setPointed(pointerType === 'mouse')}
      onPointerLeave={() => {
        setPointed(false);
        if (focused === undefined) onSelect(undefined);
      }}
    >
      <g
        class={drag.current?.isMoving === true ? 'camera dragged' : 'camera'}
        style={{ transform: `translateX(${shift}px)` }}
      >
        <g class="edges" aria-hidden="true">
          {shown.flatMap((child) =>
            child.block.parentHashes.map((hash) => {
              const parent = vertices.get(hash);
              const from =
                parent === undefined
                  ? [toX(child.x) - COLUMN_PX * 0.6, toY(child.lane)]
                  : [toX(parent.x), toY(parent.lane)];
              const isChainEdge =
                child.block.isChainBlock &&
                hash === child.block.selectedParentHash &&
                parent?.block.isChainBlock !== false;
              const line = `M${from[0]},${from[1]} L${toX(child.x)},${toY(child.lane)}`;
              return (
                <path
                  key={`${child.block.hash}${hash}`}
                  class={`${isChainEdge ? 'chain' : ''} ${parent === undefined ? 'stub' : ''}`}
                  d={line}
                  style={{ d: `path("${line}")` }}
                />
              );
            }),
          )}
        </g>
        {shown.map((vertex) => {
          const { hash } = vertex.block;
          return (
            <a
              key={hash}
              href={`/blocks/${hash}`}
              class={classOf(vertex)}
              data-hash={hash}
              aria-current={hash === marked ? 'true' : undefined}
              aria-label={nameOf(vertex)}
              tabIndex={vertex === entry ? 0 : -1}
              style={{ transform: `translate(${toX(vertex.x)}px, ${toY(vertex.lane)}px)` }}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                if (drag.current?.isMoving !== true) route(`/blocks/${hash}`);
              }}
              onKeyDown={(event) => press(event, vertex)}
              onFocus={() => {
                setFocused(hash);
                onSelect(vertex);
              }}
              onBlur={() => setFocused((old) => (old === hash ? undefined : old))}
              onMouseEnter={() => onSelect(vertex)}
            >
              {hash === marked && (
                <rect
                  class="ring"
                  x={-SIZE_PX / 2 - 6}
                  y={-SIZE_PX / 2 - 6}
                  width={SIZE_PX + 12}
                  height={SIZE_PX + 12}
                  rx="10"
                />
              )}
              <rect x={-SIZE_PX / 2} y={-SIZE_PX / 2} width={SIZE_PX} height={SIZE_PX} rx="6" />
              {vertex.block.color === 'red' && !vertex.block.isChainBlock && (
                <path class="cross" d="M-4,-4 L4,4 M4,-4 L-4,4" />
              )}
              {vertex.block.transactionCount > 1 && vertex.block.color !== 'red' && (
                <text y="4" aria-hidden="true">
                  {vertex.block.transactionCount > 99 ? '99+' : vertex.block.transactionCount}
                </text>
              )}
            </a>
          );
        })}
      </g>
    </svg>
  );
}
