/** The query parameters `from` and `to` of a range of time. */
import { badRequest } from '@kasgres/reads';
import { queryNumber } from './page-query.ts';

const MAX_TIME = 10 ** 15 - 1;

const time = (description: string) => queryNumber(0, MAX_TIME, `${description}: Unix time in milliseconds`).optional();

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
