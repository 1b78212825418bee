/**
 * A Parquet file while it is written, as NAME.tmp: it gets its name after the manifest lists it
 * (manifest.ts). Rows are written in groups, so that memory holds one group. docs/export.md has the
 * reason for hyparquet-writer.
 */
import { closeSync, fstatSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import zlib from 'node:zlib';
import { copyOut } from '@kasgres/database/copy-out';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import type { PoolClient } from 'pg';
import type { Column, ParquetValue } from './columns.ts';

const GROUP_ROWS = 65_536;
const GROUP_BYTES = 32 * 1024 * 1024;
/** Estimated memory of a value besides its bytes. */
const VALUE_BYTES = 16;

/**
 * Higher levels of zstd take longer and save little on hashes. Versions of Node before 22.15 lack
 * it, and the library has Snappy.
 */
const compression = zlib.zstdCompressSync && {
  codec: 'ZSTD' as const,
  compressors: {
    ZSTD: (bytes: Uint8Array) =>
      zlib.zstdCompressSync(bytes, { params: { [zlib.constants.ZSTD_c_compressionLevel]: 1 } }),
  },
};

export const DRAFT_SUFFIX = '.tmp';

export class PartFile {
  #draft: string;
  readonly #columns: readonly Column[];
  readonly #writer: ParquetWriter;
  #group: ParquetValue[][];
  #groupRows = 0;
  #groupBytes = 0;
  rows = 0;

  /** Overwrites an existing draft of this path. */
  static async create(path: string, columns: readonly Column[]): Promise<PartFile> {
    await mkdir(dirname(path), { recursive: true });
    return new PartFile(path, columns);
  }

  private constructor(path: string, columns: readonly Column[]) {
    this.#draft = path + DRAFT_SUFFIX;
    this.#columns = columns;
    this.#group = columns.map(() => []);
    this.#writer = new ParquetWriter({
      writer: fileWriter(this.#draft),
      schema: [
        { name: 'schema', num_children: columns.length },
        ...columns.flatMap(({ name, schemaOf }) => schemaOf(name)),
      ],
      ...compression,
      createdBy: 'kasgres export',
    });
  }

  /**
   * Adds the rows of a query for these columns and returns their number. Calls `onRows` from time
   * to time with the number of new ones.
   */
  async addRows(client: PoolClient, query: string, onRows: (rows: number) => void): Promise<number> {
    let reported = 0;
    const decoders = this.#columns.map(({ decode }) => decode);
    const onField = (column: number, bytes: Buffer | undefined): void => {
      const value = bytes === undefined ? null : (decoders[column] as (typeof decoders)[number])(bytes);
      (this.#group[column] as ParquetValue[]).push(value);
      this.#groupBytes += VALUE_BYTES + (bytes?.length ?? 0);
    };
    const onRow = (): void => {
      this.#groupRows += 1;
      reported += 1;
      if (this.#groupRows < GROUP_ROWS && this.#groupBytes < GROUP_BYTES) return;
      this.#writeGroup();
      onRows(reported);
      reported = 0;
    };
    const rows = await copyOut(client, query, onField, onRow);
    onRows(reported);
    this.rows += rows;
    return rows;
  }

  /**
   * Completes the file as the draft of `path` and syncs it to the disk. Returns its size in bytes.
   */
  finish(path: string): number {
    this.#writeGroup();
    void this.#writer.finish();
    const file = openSync(this.#draft, 'r+');
    fsyncSync(file);
    const { size } = fstatSync(file);
    closeSync(file);
    renameSync(this.#draft, path + DRAFT_SUFFIX);
    this.#draft = path + DRAFT_SUFFIX;
    return size;
  }

  discard(): void {
    rmSync(this.#draft, { force: true });
  }

  #writeGroup(): void {
    if (this.#groupRows === 0) return;
    const columnData = this.#columns.map(({ name }, i) => ({ name, data: this.#group[i] as ParquetValue[] }));
    void this.#writer.write({ columnData, rowGroupSize: this.#groupRows });
    this.#group = this.#columns.map(() => []);
    this.#groupRows = 0;
    this.#groupBytes = 0;
  }
}
