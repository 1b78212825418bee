/**
 * Shows the uses of a transaction: operations of protocols that it states, and programs that its
 * inputs reveal.
 */
import type { Schema } from '@kasgres/client';
import { shapeOf, usesOf } from '@kasgres/programs/script';
import { useMemo } from 'preact/hooks';
import { Card, Table } from '../components/page.tsx';
import { HashLink, ShortText } from '../components/values.tsx';
import { bytesOfHex, escapeUnseen, formatCount, shortHash } from '../format.ts';
import { useResource } from '../state/resource.ts';
import { isKept } from './load.ts';
import { TemplateLink } from './names.tsx';

type Transaction = Schema<'RestTransaction'>;
type Operation = NonNullable<Transaction['protocols']>[number];

const MOST_PROGRAMS = 20;

export function ProtocolsCard({ protocols }: { protocols: readonly Operation[] }) {
  if (protocols.length === 0) return null;
  return (
    <Card title="Protocols">
      <Table
        caption="Operations of protocols"
        columns={[
          { title: 'Protocol', cell: ({ protocol }) => <ProtocolLink protocol={protocol} /> },
          { title: 'Operation', cell: ({ operation }) => <OperationName operation={operation} /> },
          { title: 'Tick', cell: ({ tick }) => (tick === null ? '' : <ShortText text={tick} />) },
          { title: 'In', isMinor: true, cell: ({ source }) => nameOfSource(source) },
        ]}
        rows={protocols}
        keyOf={({ source, protocol, operation }) => JSON.stringify([source, protocol, operation])}
        empty="None."
      />
      {protocols.map((operation) => (
        <Body key={nameOfSource(operation.source)} {...operation} />
      ))}
      <p class="muted">
        What the transaction states. Whether an operation has an effect, only the indexer of its protocol knows.
      </p>
    </Card>
  );
}

export const ProtocolLink = ({ protocol }: { protocol: string }) => (
  <a class="badge" href={`/protocols?protocol=${encodeURIComponent(protocol)}`}>
    {protocol}
  </a>
);

export const OperationName = ({ operation }: { operation: string | null }) =>
  operation === null ? <span class="muted">none</span> : <ShortText text={operation} />;

export const nameOfSource = (source: Operation['source']): string =>
  source === 'payload' ? 'payload' : `program of input ${source.input}`;

function Body({ body, source, protocol }: Operation) {
  if (body == null) return null;
  return (
    <details>
      <summary>
        Content of {protocol} in the {nameOfSource(source)}
      </summary>
      <Json value={body} />
    </details>
  );
}

/** JSON of the chain. Its text may be anything. */
export const Json = ({ value }: { value: unknown }) => (
  <pre class="json">{JSON.stringify(value, undefined, 2).split('\n').map(escapeUnseen).join('\n')}</pre>
);

/** Tells whether the index keeps the program because of its opcodes. */
function hasUses({ signatureScript, previousOutput: { scriptPublicKey } }: Transaction['inputs'][number]): boolean {
  const revealed = shapeOf(bytesOfHex(signatureScript)).lastPush;
  return [revealed, bytesOfHex(scriptPublicKey ?? '')].some(
    (program) => program !== undefined && usesOf(program) !== 0,
  );
}

/**
 * Returns a function that tells whether the index keeps a program; undefined until that is known.
 * Beside those with certain opcodes, it keeps those of covenants. Others, such as those of multiple
 * signatures and of inscriptions, have no page, nor have those that only transactions reveal which
 * are not accepted.
 */
function useKept(inputs: Transaction['inputs'], isAccepted: boolean): (hash: string) => boolean | undefined {
  const [used, others] = useMemo(() => {
    const hashesOf = (some: Transaction['inputs']) => new Set(some.flatMap(({ program }) => program?.hash ?? []));
    const certain = hashesOf(isAccepted ? inputs.filter(hasUses) : []);
    return [certain, [...hashesOf(inputs)].filter((hash) => !certain.has(hash))];
  }, [inputs, isAccepted]);
  const { data } = useResource(`kept of ${others.join()} ${isAccepted}`, async () => {
    const areKept = await Promise.all(others.map(isKept));
    return new Set(others.filter((_, index) => areKept[index]));
  });
  return (hash) => used.has(hash) || data?.has(hash);
}

export function ProgramsCard({ inputs, isAccepted }: Pick<Transaction, 'inputs' | 'isAccepted'>) {
  const revealing = useMemo(() => inputs.filter(({ program }) => program != null), [inputs]);
  const shown = useMemo(() => revealing.slice(0, MOST_PROGRAMS), [revealing]);
  const kept = useKept(shown, isAccepted);
  if (shown.length === 0) return null;
  return (
    <Card title="Programs">
      <Table
        caption="Programs that inputs reveal"
        columns={[
          { title: 'Input', isNumber: true, cell: ({ index }) => index },
          {
            title: 'Program',
            cell: ({ hash }) =>
              kept(hash) === true ? (
                <HashLink kind="program" hash={hash} />
              ) : (
                <span class="mono">{shortHash(hash)}</span>
              ),
          },
          {
            title: 'Template',
            cell: ({ hash, template }) => {
              const isIndexed = kept(hash);
              if (isIndexed === undefined) return null;
              if (!isIndexed) return <span class="muted">{isAccepted ? 'ordinary program' : 'not indexed'}</span>;
              return template === null ? <span class="muted">none</span> : <TemplateLink template={template} />;
            },
          },
        ]}
        rows={shown.flatMap(({ index, program }) => (program == null ? [] : [{ index, ...program }]))}
        keyOf={({ index }) => String(index)}
        empty="None."
      />
      {revealing.length > MOST_PROGRAMS && (
        <p class="muted">{formatCount(revealing.length - MOST_PROGRAMS)} more inputs reveal programs.</p>
      )}
    </Card>
  );
}
