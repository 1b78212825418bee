/** Moves in the picture of the DAG with arrow keys. */
import type { DagModel, Vertex } from './model.ts';

/**
 * Returns the block that the key leads to: parents to the left, children to the right, lanes up and
 * down.
 */
export function neighbourOf(model: DagModel, from: Vertex, key: string): Vertex | undefined {
  switch (key) {
    case 'ArrowLeft':
      return leftOf(model, from);
    case 'ArrowRight':
      return rightOf(model, from);
    case 'ArrowUp':
    case 'ArrowDown':
      return beside(model, from, key === 'ArrowUp' ? -1 : 1);
    case 'End':
      return model.sink;
    case 'Home':
      return [...model.vertices.values()].reduce((first, one) => (one.x < first.x ? one : first), from);
    default:
      return undefined;
  }
}

function leftOf({ vertices }: DagModel, { block }: Vertex): Vertex | undefined {
  const selected = vertices.get(block.selectedParentHash ?? '');
  return selected ?? block.parentHashes.flatMap((hash) => vertices.get(hash) ?? [])[0];
}

function rightOf({ vertices }: DagModel, { block }: Vertex): Vertex | undefined {
  const children = [...vertices.values()].filter((one) => one.block.parentHashes.includes(block.hash));
  return (
    children.find((child) => child.block.isChainBlock) ??
    children.find((child) => child.block.selectedParentHash === block.hash) ??
    children[0]
  );
}

/**
 * The nearest lane in this direction, in the same column if it has one, else in the nearest column.
 */
function beside({ vertices }: DagModel, { x, lane }: Vertex, direction: 1 | -1): Vertex | undefined {
  let best: Vertex | undefined;
  let bestDistance = Number.POSITIVE_INFINITY;
  for (const one of vertices.values()) {
    const lanes = (one.lane - lane) * direction;
    if (lanes <= 0) continue;
    const distance = Math.abs(one.x - x) * 10 + lanes;
    if (distance < bestDistance) [best, bestDistance] = [one, distance];
  }
  return best;
}
