/**
 * Names of templates and of their pushes: claims of files of names, since look-alikes have the same
 * template.
 */
import { formatPush, type PushType } from '@kasgres/programs/script';
import { CopyButton, HashLink } from '../components/values.tsx';
import { escapeUnseen, formatKas } from '../format.ts';
import { useResource } from '../state/resource.ts';
import { entriesOf } from './differences.ts';
import { loadTemplate, type TemplateName } from './load.ts';

const CLAIM = 'A file of names says so. Look-alikes with other constants have the same template.';

export function TemplateNames({ names }: { names: readonly Pick<TemplateName, 'name'>[] }) {
  const distinct = [...new Set(names.map(({ name }) => name))];
  return (
    <>
      {distinct.map((name) => (
        <span class="badge guessed" title={CLAIM} key={name}>
          {escapeUnseen(name)}
        </span>
      ))}
    </>
  );
}

/** A template by its hash, with the names that files give it once they are loaded. */
export function TemplateLink({ template, isLong = false }: { template: string | null; isLong?: boolean }) {
  if (template === null) return <span class="muted">unknown</span>;
  return (
    <span class="named">
      <HashLink kind="template" hash={template} isLong={isLong} />
      <NamesOf template={template} />
    </span>
  );
}

function NamesOf({ template }: { template: string }) {
  const { data } = useResource(`names of ${template}`, () => loadTemplate(template));
  return data === undefined ? null : <TemplateNames names={data.names} />;
}

interface ProgramNamesProps {
  hash: string;
  bytes: Uint8Array;
  template: string;
}

/** The names whose required constants a program has. */
export function ProgramNames({ hash, bytes, template }: ProgramNamesProps) {
  const { data: names } = useResource(`names of program ${hash}`, async () =>
    entriesOf(bytes, (await loadTemplate(template))?.names ?? []),
  );
  return names === undefined ? null : <TemplateNames names={names} />;
}

/** Returns the entry with the most names, which is as good as another: their texts are claims. */
export function pushNamesOf(names: readonly TemplateName[]): Map<number, TemplateName['pushes'][number]> {
  const best = names.toSorted((a, b) => b.pushes.length - a.pushes.length)[0];
  return new Map(best?.pushes.map((named) => [named.push, named]));
}

const MAX_SHOWN = 96;

/** The value of a push, by the type that a file of names gives it, else in hex. */
export function PushValue({ value, type = 'bytes' }: { value: Uint8Array; type?: string | undefined }) {
  if (value.length === 0 && type !== 'int' && type !== 'amount' && type !== 'bool') {
    return <span class="muted">empty</span>;
  }
  // A type that this version does not know is shown as bytes.
  const text = formatPush(value, type as PushType);
  const isNumber = /^-?\d+$/.test(text);
  const shown = type === 'amount' && isNumber ? formatKas(text) : text;
  if (shown.length <= MAX_SHOWN) return <span class="mono wrap">{shown}</span>;
  return (
    <span class="mono wrap">
      {shown.slice(0, MAX_SHOWN)}… <CopyButton value={text} label="value" />
    </span>
  );
}
