/** Shows the uses of a transaction: operations of protocols that it states, and programs that its inputs reveal. */
import type { Schema } from '@kasgres/client';
import { Card, Table } from '../components/page.tsx';
import { ChainText, HashLink } from '../components/values.tsx';
import { escapeUnseen, formatCount, shortHash } from '../format.ts';
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
          { title: 'Tick', cell: ({ tick }) => (tick === null ? '' : <ChainText text={tick} />) },
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
  operation === null ? <span class="muted">none or undecodable</span> : <ChainText text={operation} />;

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

export function ProgramsCard({ inputs }: Pick<Transaction, 'inputs'>) {
  const revealing = inputs.flatMap(({ index, program }) => (program == null ? [] : [{ index, program }]));
  if (revealing.length === 0) return null;
  return (
    <Card title="Programs">
      <Table
        caption="Programs that inputs reveal"
        columns={[
          { title: 'Input', isNumber: true, cell: ({ index }) => index },
          {
            title: 'Program',
            cell: ({ program: { hash, template } }) =>
              // Ordinary programs, such as multi-signature scripts, are not kept, and have no page.
              template === null ? <span class="mono">{shortHash(hash)}</span> : <HashLink kind="program" hash={hash} />,
          },
          {
            title: 'Template',
            cell: ({ program: { template } }) =>
              template === null ? <span class="muted">ordinary program</span> : <TemplateLink template={template} />,
          },
        ]}
        rows={revealing.slice(0, MOST_PROGRAMS)}
        keyOf={({ index }) => String(index)}
        empty="None."
      />
      {revealing.length > MOST_PROGRAMS && (
        <p class="muted">{formatCount(revealing.length - MOST_PROGRAMS)} more inputs reveal programs.</p>
      )}
    </Card>
  );
}
