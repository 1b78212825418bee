/** The query parameters of listings: `limit`, and a cursor forwards or backwards (docs/api.md). */
import { z } from 'zod';

const DEFAULT_LIMIT = 20;
/** No page of /v1 has more items. */
export const MAX_LIMIT = 100;

/**
 * A whole number in a query string. Query values are text; `meta` documents the type that the text
 * stands for.
 */
export const queryNumber = (minimum: number, maximum: number, description: string) =>
  z
    .unknown()
    .refine((text) => /^\d{1,15}$/.test(String(text)), 'must be a whole number')
    .transform(Number)
    .refine((value) => value >= minimum && value <= maximum, `must be from ${minimum} to ${maximum}`)
    .meta({ type: 'integer', minimum, maximum, description });

const limit = queryNumber(1, MAX_LIMIT, `Largest number of items of the page; ${DEFAULT_LIMIT} by default`).default(
  DEFAULT_LIMIT,
);

/** A boolean in a query string, false by default. */
export const queryFlag = z
  .unknown()
  .refine((text) => text === 'true' || text === 'false', 'must be true or false')
  .transform((text) => text === 'true')
  .default(false)
  .meta({ type: 'boolean' });

/** Makes the query of a listing with one kind of cursor, and with parameters of the listing. */
export function pageQuery<Cursor extends z.ZodType, Extra extends z.ZodRawShape>(cursor: Cursor, extra: Extra) {
  return z
    .strictObject({
      limit,
      starting_after: describeCursor(cursor, 'Id of the last item of the previous page'),
      ending_before: describeCursor(cursor, 'Id of the first item of the next page'),
      ...extra,
    })
    .refine(hasOneCursor, {
      path: ['ending_before'],
      message: 'cannot be used together with starting_after',
    });
}

/** Adds the cursor's own description, which describes its form. */
function describeCursor<Cursor extends z.ZodType>(cursor: Cursor, description: string) {
  const form = cursor.meta()?.description;
  return cursor.optional().meta({ description: form === undefined ? description : `${description}. ${form}` });
}

export interface PageQuery<Cursor> {
  limit: number;
  starting_after?: Cursor | undefined;
  ending_before?: Cursor | undefined;
}

const hasOneCursor = (query: object): boolean => {
  const { starting_after, ending_before } = query as PageQuery<unknown>;
  return starting_after === undefined || ending_before === undefined;
};

export const pageMetadata = z
  .object({
    hasMore: z.boolean().meta({ description: 'Whether more items follow in the direction of the request' }),
    count: z.int().nonnegative().meta({ description: 'Number of items of this page' }),
    scannedTo: z.string().optional().meta({
      description:
        'Only if a filter dropped so many items that the page ends early, and maybe empty: the cursor to continue with instead of the id of the last item',
    }),
  })
  .meta({ id: 'PageMetadata' });

export type PageMetadataJson = z.infer<typeof pageMetadata>;
