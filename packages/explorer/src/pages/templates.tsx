import { useLocation } from 'preact-iso';
import { Card, Facts, Load, Page, Pager, Stat, Table, Tabs, useCursor } from '../components/page.tsx';
import { CopyButton, HashLink, Time } from '../components/values.tsx';
import { escapeUnseen, formatCount, shortHash } from '../format.ts';
import { type Template } from '../programs/load.ts';
import { TemplateNames } from '../programs/names.tsx';
import { useResource } from '../state/resource.ts';
import { CovenantTable, cursorOf } from './covenants.tsx';

const PAGE = 20;

export function TemplatesPage() {
  const cursor = useCursor();
  const parameters = { limit: PAGE, ...cursor };
  const resource = useResource(`templates ${JSON.stringify(parameters)}`, (client) =>
    client.get('/v1/templates', { params: { query: parameters } }),
  );
  return (
    <Page title="Templates of programs">
      <Card>
        <Load resource={resource} rows={12}>
          {({ templates, metadata }) => (
            <>
              <Table
                caption="Templates by spends, most first"
                columns={[
                  {
                    title: 'Template',
                    cell: ({ template, names }) => (
                      <span class="named">
                        <HashLink kind="template" hash={template} />
                        <TemplateNames names={names} />
                      </span>
                    ),
                  },
                  { title: 'Spends', isNumber: true, cell: ({ spendCount }) => formatCount(spendCount) },
                  { title: 'Programs', isNumber: true, cell: ({ programCount }) => formatCount(programCount) },
                  {
                    title: 'Covenants',
                    isNumber: true,
                    isMinor: true,
                    cell: ({ covenantCount }) => formatCount(covenantCount),
                  },
                  { title: 'First seen', isMinor: true, cell: ({ firstSeen }) => <Time ms={firstSeen} /> },
                ]}
                rows={templates}
                keyOf={({ template }) => template}
                empty="No spend of the indexed blocks reveals a program of a covenant, or one with opcodes of introspection, covenants or zero knowledge."
              />
              <Pager
                metadata={metadata}
                first={positionOf(templates[0])}
                last={positionOf(templates.at(-1))}
                labels={['More spends', 'Fewer spends']}
              />
            </>
          )}
        </Load>
      </Card>
      <p class="muted">
        Programs of a template have the same opcodes and differ in what they push. Names are claims of files:
        look-alikes with other constants have the same template.
      </p>
    </Page>
  );
}

/** The number of spends is part of the cursor, since the position of a template changes with it. */
const positionOf = (one: { spendCount: number; template: string } | undefined): string | undefined =>
  one === undefined ? undefined : `${one.spendCount}:${one.template}`;

export function TemplatePage({ template }: { template: string }) {
  const resource = useResource(`template ${template}`, async (client) => {
    return (await client.get('/v1/templates/{hash}', { params: { path: { hash: template } } })).template;
  });
  return (
    <Page
      title={`Template ${shortHash(template)}`}
      heading={
        <>
          Template {resource.data !== undefined && <TemplateNames names={resource.data.names} />}
          <span class="subject mono">
            {template} <CopyButton value={template} label="template" />
          </span>
        </>
      }
    >
      <Load resource={resource} rows={16} notFound="No program of this template is indexed.">
        {(found) => (
          <>
            <dl class="stats" aria-label="The template">
              <Stat label="Spends" value={formatCount(found.spendCount)} note="of its programs" />
              <Stat label="Programs" value={formatCount(found.programCount)} note="each state is another one" />
              <Stat label="Covenants" value={formatCount(found.covenantCount)} note="by their last program" />
              <Stat label="First seen" value={<Time ms={found.firstSeen} />} />
            </dl>
            <Names names={found.names} />
            <Covenants template={template} />
          </>
        )}
      </Load>
    </Page>
  );
}

function Names({ names }: { names: Template['names'] }) {
  return (
    <Card title="Names">
      {names.length === 0 && <p class="empty">No file of names knows this template.</p>}
      {names.map(({ name, source, description, importedFrom, pushes, required }) => (
        <Facts
          key={`${importedFrom} ${name} ${JSON.stringify(required)}`}
          facts={[
            ['Name', escapeUnseen(name)],
            ['Source', <Source text={source} />],
            description !== null && ['Description', escapeUnseen(description)],
            ['Imported from', escapeUnseen(importedFrom)],
            pushes.length > 0 && [
              'Pushes',
              pushes.map(({ push, name: pushName, type }) => (
                <span class="badge quiet" key={push}>
                  {push}: {pushName} ({type})
                </span>
              )),
            ],
            required.length > 0 && [
              'Applies if',
              required.map(({ push, value, hash }) => (
                <span class="mono wrap" key={push}>
                  push {push} is {value ?? `a value with the BLAKE2b-256 ${hash}`}{' '}
                </span>
              )),
            ],
          ]}
        />
      ))}
      {names.length > 0 && (
        <p class="muted">Claims of files of names. They say nothing of whether a contract is safe, or who made it.</p>
      )}
    </Card>
  );
}

/** A link only if it is one of the web, which the operator imported: it is not from the chain. */
function Source({ text }: { text: string }) {
  const url = /^https:\/\/\S+/.exec(text)?.[0];
  if (url === undefined) return <>{escapeUnseen(text)}</>;
  return (
    <span class="wrap">
      <a href={url} rel="noreferrer noopener" target="_blank">
        {escapeUnseen(url)}
      </a>
      {escapeUnseen(text.slice(url.length))}
    </span>
  );
}

const ORDERS = [
  ['last_seen', 'Last used'],
  ['created', 'Newest'],
] as const;

function Covenants({ template }: { template: string }) {
  const { query } = useLocation();
  const cursor = useCursor();
  const order = ORDERS.find(([name]) => name === query['show'])?.[0] ?? 'last_seen';
  const parameters = { limit: PAGE, order, ...cursor };
  const resource = useResource(`covenants of template ${template} ${JSON.stringify(parameters)}`, (client) =>
    client.get('/v1/templates/{hash}/covenants', { params: { path: { hash: template }, query: parameters } }),
  );
  return (
    <Card title="Covenants" aside={<Tabs label="Order" parameter="show" tabs={ORDERS} current={order} />}>
      <Load resource={resource} rows={8}>
        {({ covenants, metadata }) => (
          <>
            <CovenantTable
              covenants={covenants}
              empty="No covenant has this template as that of its last program."
              isOfTemplate
            />
            <Pager metadata={metadata} first={cursorOf(covenants[0], order)} last={cursorOf(covenants.at(-1), order)} />
          </>
        )}
      </Load>
    </Card>
  );
}
