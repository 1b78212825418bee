/** Charges a response in portions while it is read, since its size is not known when it begins. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyRequest } from 'fastify';
import type { Admission, RequestKey } from './admission.ts';
import type { RefusalReason } from './limits.ts';

/** Longer silence would close the connection (server.ts). */
const MAX_WAIT_MS = 25_000;

const REASONS: Readonly<Record<RefusalReason, string>> = {
  quota: 'the quota is used up',
  rate_limit: `the rate allowed nothing more for ${MAX_WAIT_MS / 1000} seconds`,
  concurrency: 'too many requests are in flight',
};

/** The rest of a response cannot be paid for. */
export class UnpaidError extends Error {
  override readonly name = 'UnpaidError';
}

/**
 * Charges a portion of a request in flight as soon as the rate allows it.
 * @param isRead whether the client still reads
 * @throws UnpaidError if the quota is used up, or the rate allows nothing for too long
 */
export async function chargeAsRead(
  admission: Admission,
  request: Pick<FastifyRequest, 'apiKey' | 'spentRu'>,
  ru: number,
  isRead: () => boolean,
): Promise<void> {
  const endsAt = performance.now() + MAX_WAIT_MS;
  while (isRead()) {
    const verdict = await admission.chargeMore(request.apiKey as RequestKey, null, ru);
    if (verdict.refusal === undefined) {
      request.spentRu += ru;
      return;
    }
    const waitMs = verdict.resetSeconds * 1000;
    if (verdict.refusal === 'quota' || performance.now() + waitMs > endsAt)
      throw new UnpaidError(REASONS[verdict.refusal]);
    await sleep(waitMs);
  }
}
