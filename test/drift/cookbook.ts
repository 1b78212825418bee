/**
 * Generates docs/cookbook.md: the queries in `cookbook/*.sql` with their results on the demo
 * network and their times.
 */
import { readFile } from 'node:fs/promises';
import type { Response, Text } from '../cookbook/analyst.ts';
import { FIRST_ABOUT_APPLICATIONS, isAboutApplications, readRequests } from '../cookbook/requests.ts';

/** Written by bench/requests.ts. */
interface Times {
  network: TimesOnOneChain;
  /** Queries about covenants, programs, lanes and protocols. */
  applications: TimesOnOneChain;
}

interface TimesOnOneChain {
  machine: string;
  /** In the database. */
  transactions: number;
  /** By the name of the query; `firstMs` is with cold caches. */
  requests: Record<string, { ms: number; firstMs: number }>;
}

const DIRECTORY = new URL('../../cookbook/', import.meta.url);

const SHOWN_ROWS = 10;

/** Each theme has the number of its last query. */
const THEMES: readonly [string, number][] = [
  ['The network', 2],
  ['Mining', 5],
  ['Supply, fees, wealth', 11],
  ['Addresses', 20],
  ['Transactions', 24],
  ['The DAG', 26],
  ['Owners', 29],
  ['This index', FIRST_ABOUT_APPLICATIONS - 1],
  ['Covenants, programs, protocols', 40],
];

async function readJson<T>(name: string): Promise<T> {
  return JSON.parse(await readFile(new URL(name, DIRECTORY), 'utf8')) as T;
}

export async function generateCookbook(): Promise<string> {
  const responses = await readJson<Record<string, Response>>('generated/results.json');
  const times = await readJson<Times>('times.json');
  const queries = readRequests().map((query) => {
    const number = Number.parseInt(query.name, 10);
    return { ...query, number, heading: `${number}. ${query.title}` };
  });
  const contents = queries.map(({ name, number, title, heading }) => {
    const time = times[isAboutApplications(name) ? 'applications' : 'network'].requests[name];
    const ms = time && `${time.ms.toLocaleString('en-US')} (${time.firstMs.toLocaleString('en-US')})`;
    return `| ${number} | [${title}](#${anchorOf(heading)}) | ${ms ?? ''} |`;
  });
  const sections = queries.flatMap(({ name, number, heading, explanation, sql }) => [
    ...themeBefore(number),
    `### ${heading}`,
    '',
    explanation,
    '',
    '```sql',
    sql,
    '```',
    '',
    ...tableOf(responses[name]),
    '',
  ]);
  return [introduction(times), ...contents, '', ...sections].join('\n');
}

const introduction = ({ network, applications }: Times): string => `# Cookbook

Queries over the Kaspa chain. Each runs as pasted in psql, DBeaver, Metabase or Grafana and uses only the views of
schema \`kaspa\`. [sql.md](sql.md) explains how to connect, [schema.md](schema.md) what every column means. To adapt a
query, change the address, cluster or covenant in \`asked\`, the \`interval\`, or the number of chain blocks.

- **Results** come from a demo network with a fixed seed: four days of a simulated node, one block every 90 seconds.
  Tests compute every result independently from that node. Long results are truncated; addresses and ids are shortened.
- **Times** are milliseconds, warm, and cold in brackets ([bench](../bench/README.md#the-queries-of-the-cookbook)): in a
  database with ${network.transactions.toLocaleString('en-US')} transactions, on ${network.machine}; from query ${FIRST_ABOUT_APPLICATIONS} on
  with ${applications.transactions.toLocaleString('en-US')} transactions, on ${applications.machine}. Queries
  over the last 1,000 chain blocks take proportionally longer for more blocks.
- **Volumes, addresses and clusters are not people.** Each query says what its figures leave out.

This page is generated from [\`cookbook/\`](../cookbook) by \`npm run generate\`, the results by
\`npm run generate:cookbook\`.

| | query | ms |
|---|---|---|`;

/** Returns the heading of the theme that begins with this query, if any. */
function themeBefore(number: number): string[] {
  const index = THEMES.findIndex(([, last]) => number <= last);
  const first = (THEMES[index - 1]?.[1] ?? 0) + 1;
  return number === first ? [`## ${THEMES[index]?.[0]}`, ''] : [];
}

/** Returns the anchor that GitHub derives from a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^a-z0-9 -]/g, '')
    .replaceAll(' ', '-');

function tableOf(response: Response | undefined): string[] {
  if (response === undefined) return [];
  const { columns, rows } = response;
  const isNumeric = columns.map((_, column) => rows.every((row) => /^-?[\d.]+$/.test(row[column] ?? '0')));
  const more = rows.length - SHOWN_ROWS;
  return [
    `| ${columns.join(' | ')} |`,
    `|${isNumeric.map((numeric) => (numeric ? '---:' : '---')).join('|')}|`,
    ...rows.slice(0, SHOWN_ROWS).map((row) => `| ${row.map(formatCell).join(' | ')} |`),
    ...(more > 0 ? ['', `… and ${more} more.`] : []),
  ];
}

function formatCell(text: Text): string {
  if (text === null) return '';
  return text
    .replace(/^(kaspa\w*:\w{5})\w+(\w{5})$/, '`$1…$2`')
    .replace(/^([0-9a-f]{8})[0-9a-f]{48}([0-9a-f]{8})$/, '`$1…$2`')
    .replace(/^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?)\+00$/, '$1');
}
