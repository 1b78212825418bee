/** Exports views and tables to Parquet files, for other engines (docs/export.md). */
export { CatchingUpError } from './exporter.ts';
export type { Manifest } from './manifest.ts';
export { listNames, TABLES, VIEWS } from './relations.ts';
export { EXPORT_CONNECTION, type ExportRequest, planExport, runExport } from './run-export.ts';
