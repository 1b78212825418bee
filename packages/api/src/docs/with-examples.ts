/** Replaces the examples in the requests of a document. */
import type { ExampleRequest } from './example-requests.ts';

interface Parameter {
  name?: string;
  in?: string;
  example?: unknown;
}

interface Operation {
  operationId?: string;
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { example?: unknown }> };
}

/** The parts of the document that are used here. */
export interface OpenApiDocument {
  paths: Record<string, Record<string, Operation>>;
}

/** @param requests by operationId; operations without one keep their examples */
export function withExamples(
  document: OpenApiDocument,
  requests: Readonly<Record<string, ExampleRequest>>,
): OpenApiDocument {
  const paths = mapValues(document.paths, (operations) =>
    mapValues(operations, (operation) => {
      const request = requests[operation.operationId ?? ''];
      return request === undefined ? operation : withExample(operation, request);
    }),
  );
  return { ...document, paths };
}

function withExample(operation: Operation, { path, query, body }: ExampleRequest): Operation {
  const { parameters, requestBody } = operation;
  const values: Record<string, unknown> = { ...path, ...query };
  return {
    ...operation,
    ...(parameters && {
      parameters: parameters.map((parameter) => ({
        ...parameter,
        example: parameter.name === undefined ? undefined : values[parameter.name],
      })),
    }),
    ...(requestBody && {
      requestBody: {
        ...requestBody,
        content: mapValues(requestBody.content, (content) => ({ ...content, example: body })),
      },
    }),
  };
}

function mapValues<T, U>(record: Readonly<Record<string, T>>, map: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
