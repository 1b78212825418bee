/** How covenants and their events are called on all pages. */
import type { Schema } from '@kasgres/client';

const KINDS = {
  genesis: ['good', 'Creates its first UTXOs'],
  transition: ['blue', 'Spends UTXOs of it and creates others'],
  burn: ['red', 'Spends UTXOs of it and creates none'],
} as const;

export function EventKind({ kind }: Pick<Schema<'CovenantEvent'>, 'kind'>) {
  const [tone, title] = KINDS[kind];
  return (
    <span class={`badge ${tone}`} title={title}>
      {kind}
    </span>
  );
}

export function CovenantState({ isLive, isComplete }: Pick<Schema<'Covenant'>, 'isLive' | 'isComplete'>) {
  return (
    <>
      {isLive ? <span class="badge good">live</span> : <span class="badge quiet">ended</span>}
      {!isComplete && (
        <span class="badge warning" title="It began before the indexed blocks, or lived before a gap">
          incomplete
        </span>
      )}
    </>
  );
}
