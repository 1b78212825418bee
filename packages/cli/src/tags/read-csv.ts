/** Reads CSV: a header, then one tag a line. */
import { CsvError, parse } from 'csv-parse/sync';
import { type Field, FIELD_NAMES, type RawTag } from './check-tag.ts';
import { type Problems, type RawFile, splitLabels } from './tag-file.ts';
import { quoted } from './quoted.ts';

const SEPARATORS = [',', ';', '\t'];

interface Row {
  line: number;
  values: string[];
}

export function readCsv(text: string, problems: Problems): RawFile {
  const [header, ...rows] = readRows(text, problems);
  const columns = readHeader(header, problems);
  const tags = columns === undefined ? [] : rows.flatMap((row) => readRow(columns, row, problems));
  return { source: '', title: '', creator: '', tags, transactionTags: 0, lineOf: () => 1 };
}

function readRows(text: string, problems: Problems): Row[] {
  const rows: Row[] = [];
  try {
    parse(text, {
      bom: true,
      delimiter: separatorOf(text),
      relax_column_count: true,
      skip_empty_lines: true,
      trim: true,
      on_record: (values: string[], { lines }) => {
        // The parser reports the last line of a record, which begins earlier if values contain line
        // breaks.
        const inside = values.reduce((sum, value) => sum + value.split('\n').length - 1, 0);
        rows.push({ line: lines - inside, values });
        return null;
      },
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const line = typeof error['lines'] === 'number' ? error['lines'] : 1;
    problems.add(line, 'CSV', `cannot be read from here on: ${error.message}`);
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

function readHeader(header: Row | undefined, problems: Problems): Field[] | undefined {
  const before = problems.count;
  const report = (field: string, problem: string): void => problems.add(header?.line ?? 1, field, problem);
  const known = FIELD_NAMES.join(', ');
  if (header === undefined) {
    if (before === 0) report('header', `is missing; the first line must name the columns, of ${known}`);
    return undefined;
  }
  const columns: Field[] = [];
  for (const text of header.values) {
    const field = FIELD_NAMES.find((name) => name === text.toLowerCase());
    if (text.toLowerCase() === 'label') {
      report('label', 'is ambiguous: use the column name for the owner, and labels for the kind of owner');
    } else if (field === undefined) report(quoted(text), `is not a column of tags; the columns are ${known}`);
    else if (columns.includes(field)) report(field, 'occurs twice');
    else columns.push(field);
  }
  if (problems.count > before) return undefined;
  const missing = (['address', 'name'] as const).find((field) => !columns.includes(field));
  if (missing === undefined) return columns;
  report(missing, 'is missing among the columns');
  return undefined;
}

function readRow(columns: readonly Field[], { line, values }: Row, problems: Problems): RawTag[] {
  if (values.length !== columns.length) {
    problems.add(line, 'line', `has ${values.length} values, the header names ${columns.length} columns`);
    return [];
  }
  const fields = columns
    .map((column, i) => [column, column === 'labels' ? splitLabels(values[i] ?? '') : values[i]])
    .filter(([, value]) => value !== '');
  return [{ fields: Object.fromEntries(fields) as RawTag['fields'], lineOf: () => line }];
}
