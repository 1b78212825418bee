/** The query parameters `from` and `to` of a range of time. */
import { z } from 'zod';
import { badRequest } from '../http/errors.ts';

const time = (description: string) =>
  z
    .string()
    .regex(/^\d{1,15}$/, 'must be Unix time in milliseconds')
    .transform(Number)
    .optional()
    .meta({ description: `${description}: Unix time in milliseconds`, pattern: '^\\d{1,15}$' });

export const timeRange = { from: time('Beginning'), to: time('End, exclusive') };

/** @throws HttpError 400 for a range that ends before it begins */
export function requireTimeRange({
  from = 0,
  to = Number.POSITIVE_INFINITY,
}: {
  from?: number | undefined;
  to?: number | undefined;
}): void {
  if (to < from) throw badRequest({ path: 'to', message: 'must not be before from' });
}
