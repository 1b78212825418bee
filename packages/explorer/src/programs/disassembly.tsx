/**
 * The instructions of a program, with names of pushes, and those that differ within its template.
 */
import { type Instruction, instructions, pushesOf, shapeOf } from '@kasgres/programs/script';
import { useLocation } from 'preact-iso';
import { useMemo } from 'preact/hooks';
import { Card, showTop, Tabs, useHref } from '../components/page.tsx';
import { formatCount } from '../format.ts';
import { useResource } from '../state/resource.ts';
import { entriesOf, varyingPushes } from './differences.ts';
import { loadTemplate } from './load.ts';
import { PushValue, pushNamesOf } from './names.tsx';
import { loadSiblings } from './siblings.ts';

const PAGE = 250;

interface DisassemblyProps {
  hash: string;
  bytes: Uint8Array;
  template: string | null;
}

interface Row {
  instruction: Instruction;
  value: Uint8Array | undefined;
}

function rowsOf(bytes: Uint8Array): Row[] {
  const values = [...pushesOf(bytes)].map(({ value }) => value);
  return [...instructions(bytes)].map((instruction) => ({
    instruction,
    value: instruction.push === undefined ? undefined : values[instruction.push],
  }));
}

export function DisassemblyCard({ hash, bytes, template }: DisassemblyProps) {
  const { query } = useLocation();
  const rows = useMemo(() => rowsOf(bytes), [bytes]);
  const { malformedAt } = useMemo(() => shapeOf(bytes), [bytes]);
  const siblings = useResource(`siblings of ${hash}`, async (client) => {
    if (template === null) return { names: [], others: [] };
    const [known, others] = await Promise.all([loadTemplate(template), loadSiblings(client, template, hash)]);
    return { names: await entriesOf(bytes, known?.names ?? []), others };
  });
  const names = useMemo(() => pushNamesOf(siblings.data?.names ?? []), [siblings.data]);
  const others = siblings.data?.others ?? [];
  const varying = useMemo(() => varyingPushes(bytes, others), [bytes, siblings.data]);
  const view = VIEWS.find(([name]) => name === query['show'])?.[0] ?? 'all';
  const shown = rows.filter(({ instruction: { push } }) => {
    if (view === 'all') return true;
    return push !== undefined && (view === 'pushes' || varying.has(push));
  });
  const from = Math.min(Math.max(0, Math.floor(Number(query['from'] ?? 0)) || 0), Math.max(0, shown.length - 1));
  const end = from + PAGE;
  return (
    <Card
      title="Instructions"
      aside={<Tabs label="Instructions" parameter="show" clears={['from']} tabs={VIEWS} current={view} />}
    >
      <p class="muted">
        {formatCount(rows.length)} {rows.length === 1 ? 'instruction' : 'instructions'}.{' '}
        {malformedAt !== undefined
          ? `From byte ${formatCount(malformedAt)} on, it does not parse.`
          : others.length > 0
            ? `Marked pushes differ in ${others.length === 1 ? 'another program' : `${others.length} other programs`} of the template: they are state or arguments.`
            : siblings.data !== undefined && 'No other program of its template was found to compare it with.'}
        {names.size > 0 && ' Names of pushes are claims of a file of names.'}
      </p>
      {shown.length === 0 ? (
        <p class="empty">No such instructions.</p>
      ) : (
        <div class="table" role="region" aria-label="Instructions" tabIndex={0}>
          <table class="disassembly">
            <caption class="hidden">Instructions of the program</caption>
            <thead>
              <tr>
                <th scope="col" class="number minor">
                  Byte
                </th>
                <th scope="col">Opcode</th>
                <th scope="col" class="number">
                  Push
                </th>
                <th scope="col">Value</th>
              </tr>
            </thead>
            <tbody>
              {shown.slice(from, end).map(({ instruction: { index, offset, name, push }, value }) => {
                const named = push === undefined ? undefined : names.get(push);
                const isVarying = push !== undefined && varying.has(push);
                return (
                  <tr key={index} class={isVarying ? 'varying' : undefined}>
                    <td class="number minor muted">{offset}</td>
                    <td class="mono">{name}</td>
                    <td class="number">{push ?? ''}</td>
                    <td>
                      {named !== undefined && <i class="name guessed">{named.name} </i>}
                      {value !== undefined && <PushValue value={value} type={named?.type} />}
                      {isVarying && <span class="badge quiet"> differs</span>}
                    </td>
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      )}
      <Pages from={from} end={end} count={shown.length} />
    </Card>
  );
}

const VIEWS = [
  ['all', 'All'],
  ['pushes', 'Pushes'],
  ['varying', 'Differing pushes'],
] as const;

function Pages({ from, end, count }: { from: number; end: number; count: number }) {
  const href = useHref();
  const hrefOf = (to: number): string => href({ from: to <= 0 ? undefined : String(to) });
  if (count <= PAGE) return null;
  return (
    <nav class="pager" aria-label="Pages" onClick={showTop}>
      {from > 0 && <a href={hrefOf(from - PAGE)}>← Previous</a>}
      {end < count && <a href={hrefOf(end)}>Next →</a>}
    </nav>
  );
}
