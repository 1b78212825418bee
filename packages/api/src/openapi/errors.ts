/** Answers without content, and errors: for every operation under a key the same, so they stand once, as components. */
import { STATUS_CODES } from 'node:http';
import { ERRORS, type ErrorStatus, errorEnvelope, NOT_MODIFIED } from '../schemas/responses.ts';
import { errorExamples } from './examples.ts';
import { describeHeaders } from './headers.ts';
import { describeSchema } from './schemas.ts';

/** `404` is `NotFound`. */
const componentName = (status: number): string => (STATUS_CODES[status] ?? '').replaceAll(/[^A-Za-z]/g, '');

/** What the server says of any request before it is one that an operation could see: without the headers of an answer. */
const OF_TRANSPORT: Readonly<Record<string, string>> = {
  408: 'The request did not come to its end in time',
  431: 'The headers, the URL among them, are larger than 16 KiB',
};

const transportResponses = Object.entries(OF_TRANSPORT).map(([status, description]): [number, object] => [
  Number(status),
  { description, content: { 'application/json': { schema: describeSchema(errorEnvelope, 'output') } } },
]);

/** Of every operation. */
export const transportReferences: object = Object.fromEntries(
  transportResponses.map(([status]) => [status, { $ref: `#/components/responses/${componentName(status)}` }]),
);

const statuses = [304, ...Object.keys(ERRORS).map(Number)];

export const responseComponents: object = {
  ...Object.fromEntries(statuses.map((status) => [componentName(status), describe(status, true)])),
  ...Object.fromEntries(transportResponses.map(([status, answer]) => [componentName(status), answer])),
};

/** Any answer of an operation but the 200. */
export function describeOtherResponse(status: number, { isUnderKey }: { isUnderKey: boolean }): object {
  return isUnderKey ? { $ref: `#/components/responses/${componentName(status)}` } : describe(status, false);
}

function describe(status: number, isUnderKey: boolean): object {
  // Only answers from the index can be unchanged.
  const headers = describeHeaders(status, { isUnderKey, isFromIndex: true });
  if (status === 304) return { description: NOT_MODIFIED, headers };
  const examples = errorExamples(status);
  const content = {
    schema: describeSchema(errorEnvelope, 'output'),
    ...(examples.length > 0 && {
      examples: Object.fromEntries(examples.map((answer) => [answer.message, { value: answer }])),
    }),
  };
  return { description: ERRORS[status as ErrorStatus], headers, content: { 'application/json': content } };
}
