/**
 * What the operations are shown with: requests, and the answers that the API gives to them over a fixed simulated chain. Written by
 * `npm run generate:examples`, which a test holds to be true (test/examples).
 */
import type { ErrorEnvelope } from '../schemas/responses.ts';
import examples from '../generated/examples.json' with { type: 'json' };

export interface OperationExample {
  path?: Record<string, unknown>;
  query?: Record<string, unknown>;
  body?: unknown;
  /** Left out where no request gets one: the node does not know such calls. */
  answer?: unknown;
}

interface Examples {
  /** By operationId. */
  operations: Record<string, OperationExample>;
  errors: ErrorEnvelope[];
}

/** Undefined for an operation that is too new to have one: a test misses it. */
export function findExample(operationId: string): OperationExample | undefined {
  return (examples as Examples).operations[operationId];
}

export function errorExamples(status: number): ErrorEnvelope[] {
  return (examples as Examples).errors.filter(({ statusCode }) => statusCode === status);
}
