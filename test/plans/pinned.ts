/**
 * The plans of all queries as one readable text, a section for each statement, so that a change of a plan is a line in a diff. It is
 * committed as pinned-plans.txt; `npx vitest run test/plans -u` writes it again.
 */
import type { Plan } from './explain.ts';
import type { RecordedQuery } from './recorded-queries.ts';

export interface PlannedQuery {
  /** What was asked of the API. */
  request: string;
  query: RecordedQuery;
  plan: Plan;
}

const LONGEST_STATEMENT = 240;

export function toPinnedText(planned: readonly PlannedQuery[]): string {
  const sections = [...Map.groupBy(planned, ({ query }) => shorten(query.text))].map(([statement, queries]) => {
    const plans = Map.groupBy(queries, ({ plan }) => plan.lines.join('\n'));
    return [statement, ...describePlans(plans).map(indent)].join('\n\n');
  });
  return `${sections.join('\n\n')}\n`;
}

/** Where parameters make a difference, with the requests that have another plan than most. */
function describePlans(plans: ReadonlyMap<string, readonly PlannedQuery[]>): string[] {
  const commonestFirst = [...plans].toSorted(([, a], [, b]) => b.length - a.length);
  return commonestFirst.map(([plan, queries], place) => {
    const requests = [...new Set(queries.map(({ request }) => request))];
    return place === 0 ? plan : `for ${requests.join('; ')}:\n${plan}`;
  });
}

const indent = (text: string): string => text.replaceAll(/^/gm, '    ');

/** On one line, without what it selects, subqueries among it: the tables and conditions tell more. */
function shorten(statement: string): string {
  const line = statement.trim().replaceAll(/\s+/g, ' ').replaceAll('"', '');
  const withoutColumns = line.replace(/^select .*? from (?![^()]*\)[) ])/, 'select … from ');
  return withoutColumns.length <= LONGEST_STATEMENT
    ? withoutColumns
    : `${withoutColumns.slice(0, LONGEST_STATEMENT - 1)}…`;
}
