/**
 * One Parquet file while it is written, beside its name, as NAME.tmp: it gets its name when the manifest knows it (manifest.ts). Rows
 * are written in groups, so memory holds one group and not the file. hyparquet-writer: docs/export.md has the reason.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { constants, zstdCompressSync } from 'node:zlib';
import { fileWriter, ParquetWriter } from 'hyparquet-writer';
import type { PoolClient } from 'pg';
import type { ParquetValue } from './column-types.ts';
import { copyOut } from '../copy-rows.ts';
import type { Column } from './columns.ts';

/** A group ends with whichever comes first; a row that is larger by itself is a group. */
const GROUP_ROWS = 65_536;
const GROUP_BYTES = 32 * 1024 * 1024;
/** What a value takes besides its bytes, about. */
const VALUE_BYTES = 16;

export const DRAFT_SUFFIX = '.tmp';

export class PartFile {
  #draft: string;
  readonly #columns: readonly Column[];
  readonly #writer: ParquetWriter;
  #group: ParquetValue[][];
  #groupRows = 0;
  #groupBytes = 0;
  rows = 0;

  /** Begins the draft of this path anew when it is there. */
  static async create(path: string, columns: readonly Column[], createdBy: string): Promise<PartFile> {
    await mkdir(dirname(path), { recursive: true });
    return new PartFile(path, columns, createdBy);
  }

  private constructor(path: string, columns: readonly Column[], createdBy: string) {
    this.#draft = path + DRAFT_SUFFIX;
    this.#columns = columns;
    this.#group = emptyGroup(columns);
    this.#writer = new ParquetWriter({
      writer: fileWriter(this.#draft),
      schema: [
        { name: 'schema', num_children: columns.length },
        ...columns.flatMap(({ name, type }) => type.schemaOf(name)),
      ],
      codec: 'ZSTD',
      compressors: { ZSTD: compress },
      createdBy,
    });
  }

  /**
   * Adds the rows of a query for these columns, in this order. `onRows` hears of so many more, now and then.
   * @returns their number
   */
  async addRows(client: PoolClient, query: string, onRows: (rows: number) => void): Promise<number> {
    let heard = 0;
    const decoders = this.#columns.map(({ type }) => type.decode);
    const onField = (column: number, bytes: Buffer | undefined): void => {
      const value = bytes === undefined ? null : (decoders[column] as (typeof decoders)[number])(bytes);
      (this.#group[column] as ParquetValue[]).push(value);
      this.#groupBytes += VALUE_BYTES + (bytes?.length ?? 0);
    };
    const onRow = (): void => {
      this.#groupRows += 1;
      heard += 1;
      if (this.#groupRows < GROUP_ROWS && this.#groupBytes < GROUP_BYTES) return;
      this.#writeGroup();
      onRows(heard);
      heard = 0;
    };
    const rows = await copyOut(client, query, onField, onRow);
    onRows(heard);
    this.rows += rows;
    return rows;
  }

  /** Ends the file, as the draft of `path`, and brings it to the disk. Returns its size in bytes. */
  finish(path: string): number {
    this.#writeGroup();
    void this.#writer.finish();
    const file = openSync(this.#draft, 'r+');
    fsyncSync(file);
    closeSync(file);
    renameSync(this.#draft, path + DRAFT_SUFFIX);
    this.#draft = path + DRAFT_SUFFIX;
    return statSync(this.#draft).size;
  }

  discard(): void {
    rmSync(this.#draft, { force: true });
  }

  #writeGroup(): void {
    if (this.#groupRows === 0) return;
    const columnData = this.#columns.map(({ name }, i) => ({ name, data: this.#group[i] as ParquetValue[] }));
    void this.#writer.write({ columnData, rowGroupSize: this.#groupRows });
    this.#group = emptyGroup(this.#columns);
    this.#groupRows = 0;
    this.#groupBytes = 0;
  }
}

function emptyGroup(columns: readonly Column[]): ParquetValue[][] {
  return columns.map(() => []);
}

/** Level 1: higher ones take longer and save little on hashes. */
function compress(bytes: Uint8Array): Uint8Array {
  return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}
