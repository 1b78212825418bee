/** Reads CSV: a header, then one tag a line. */
import { basename } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { DEFAULT_CONFIDENCE_LEVEL } from '@kasgres/database';
import { type Problems, quoted } from './problems.ts';
import { type Field, type RawFile, type RawTag, splitLabels } from './raw-tag.ts';

const COLUMNS: Readonly<Record<string, Field>> = {
  address: 'address',
  name: 'name',
  link: 'link',
  labels: 'labels',
  category: 'category',
  confidence: 'confidence',
  source: 'source',
  creator: 'creator',
  lastmod: 'lastmod',
  currency: 'currency',
  network: 'network',
};

const SEPARATORS = [',', ';', '\t'];

interface Row {
  line: number;
  values: string[];
}

export function readCsv(file: string, text: string, problems: Problems): RawFile {
  const [header, ...rows] = readRows(file, text, problems);
  const columns = readHeader(file, header, problems);
  const tags = columns === undefined ? [] : rows.flatMap((row) => readRow(file, columns, row, problems));
  return {
    file,
    nameOf: (field) => field,
    source: basename(file),
    title: '',
    creator: '',
    tags,
    transactionTags: 0,
    defaultConfidenceLevel: DEFAULT_CONFIDENCE_LEVEL,
    linksAreUrls: true,
  };
}

function readRows(file: string, text: string, problems: Problems): Row[] {
  const rows: Row[] = [];
  try {
    parse(text, {
      bom: true,
      delimiter: separatorOf(text),
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      on_record: (values: string[], { lines }) => {
        // The parser reports the last line of a record, which begins earlier if values contain line breaks.
        const inside = values.reduce((sum, value) => sum + value.split('\n').length - 1, 0);
        rows.push({ line: lines - inside, values });
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error['lines'] === 'number' ? error['lines'] : 1;
    problems.add({ file, line }, 'CSV', `cannot be read from here on: ${error.message}`);
    return [];
  }
  return rows;
}

/** Returns the separator that occurs most often in the header. */
function separatorOf(text: string): string {
  const header = text.slice(0, text.search(/[\r\n]|$/));
  const countOf = (separator: string): number => header.split(separator).length;
  return SEPARATORS.reduce((best, separator) => (countOf(separator) > countOf(best) ? separator : best));
}

/** Returns the field of each column. */
function readHeader(file: string, header: Row | undefined, problems: Problems): Field[] | undefined {
  const position = { file, line: header?.line ?? 1 };
  const known = Object.keys(COLUMNS).join(', ');
  if (header === undefined) {
    if (problems.count === 0)
      problems.add(position, 'header', `is missing; the first line must name the columns, of ${known}`);
    return undefined;
  }
  const columns: Field[] = [];
  const before = problems.count;
  for (const text of header.values) {
    const name = text.toLowerCase();
    const field = Object.hasOwn(COLUMNS, name) ? COLUMNS[name] : undefined;
    if (name === 'label') {
      problems.add(
        position,
        'label',
        'is ambiguous: use the column name for the owner, and labels for the kind of owner',
      );
    } else if (field === undefined)
      problems.add(position, quoted(text), `is not a column of tags; the columns are ${known}`);
    else if (columns.includes(field)) problems.add(position, field, 'occurs twice');
    else columns.push(field);
  }
  for (const needed of ['address', 'name'] as const) {
    if (!columns.includes(needed) && problems.count === before)
      problems.add(position, needed, 'is missing among the columns');
  }
  return problems.count === before ? columns : undefined;
}

function readRow(file: string, columns: readonly Field[], { line, values }: Row, problems: Problems): RawTag[] {
  const position = { file, line };
  if (values.length !== columns.length) {
    problems.add(position, 'line', `has ${values.length} values, the header names ${columns.length} columns`);
    return [];
  }
  const fields: Partial<Record<Field, unknown>> = {};
  for (const [index, column] of columns.entries()) {
    const value = values[index] ?? '';
    fields[column] = column === 'labels' ? splitLabels(value) : value;
  }
  return [{ fields, positionOf: () => position }];
}
