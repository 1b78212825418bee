/**
 * Operations of the API. One definition gives a route its validation, cost and responses, and openapi.json its description. Handlers return
 * the body of a 200; errors are thrown.
 */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { type BodyOptions, parseJsonBodies } from './http/json-body.ts';
import { callerOf } from './http/request-identity.ts';
import { respondByContent, respondFromState } from './index-state/respond.ts';
import type { Reading } from './index-state/state.ts';
import type { NodeCaller } from './node-calls.ts';
import type { tags } from './openapi/info.ts';
import { type ErrorStatus, errorEnvelope } from './schemas/responses.ts';
import type { Services } from './services.ts';

export type ApiPlugin = FastifyPluginAsync<Services>;

interface Operation<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
> {
  method: 'GET' | 'POST';
  /** In the form of Fastify: `/v1/blocks/:hash`. */
  url: string;
  operationId: string;
  summary: string;
  description?: string;
  tag: (typeof tags)[number]['name'];
  /** Request units. An operation without a cost needs no key. */
  cost?: number;
  /** Path to an array in the body whose items are charged (authentication.ts). */
  costsByItemsOf?: readonly string[];
  /** Whether a read-only key may not call it. */
  submits?: boolean;
  params?: Params;
  query?: Query;
  body?: Body;
  bodyOptions?: BodyOptions;
  response: Response;
  /** Statuses beside those that every operation of its kind has. */
  errors?: readonly ErrorStatus[];
}

interface Input<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  params: z.output<Params>;
  query: z.output<Query>;
  body: z.output<Body>;
}

type AnyOperation = Operation<z.ZodType, z.ZodType, z.ZodType, z.ZodType>;
type Handler = (services: Services, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Defines an operation that is read from the index, with an entity tag. */
export function indexRoute<
  Response extends z.ZodType,
  Params extends z.ZodType = z.ZodUnknown,
  Query extends z.ZodType = z.ZodUnknown,
  Body extends z.ZodType = z.ZodUnknown,
>(
  operation: Operation<Params, Query, Body, Response> & {
    /** What the tag is made of: the state of the index by default (index-state/respond.ts). */
    tagOf?: 'content';
  },
  read: (reading: Reading, input: Input<Params, Query, Body>) => Promise<z.output<Response>>,
): ApiPlugin {
  const { tagOf, ...rest } = operation;
  const respond = tagOf === 'content' ? respondByContent : respondFromState;
  return define(rest, [304], ({ index }, request, reply) =>
    respond(index, request, reply, (reading) => read(reading, request as Input<Params, Query, Body>)),
  );
}

export interface RequestContext {
  services: Services;
  /** The node, where the caller takes turns with others. */
  node: NodeCaller;
  caller: string;
  reply: FastifyReply;
}

/** Defines an operation that is not read from the index alone, without an entity tag. */
export function route<
  Response extends z.ZodType,
  Params extends z.ZodType = z.ZodUnknown,
  Query extends z.ZodType = z.ZodUnknown,
  Body extends z.ZodType = z.ZodUnknown,
>(
  operation: Operation<Params, Query, Body, Response>,
  handle: (context: RequestContext, input: Input<Params, Query, Body>) => Promise<z.output<Response>>,
): ApiPlugin {
  return define(operation, [], (services, request, reply) => {
    const caller = callerOf(request);
    const context = { services, node: services.nodeCalls.of(caller), caller, reply };
    return handle(context, request as Input<Params, Query, Body>);
  });
}

function define(operation: AnyOperation, statuses: readonly number[], handler: Handler): ApiPlugin {
  const { method, url, operationId, summary, description, tag, cost, costsByItemsOf, submits } = operation;
  const { params, query = z.strictObject({}), body, bodyOptions, response } = operation;
  const errors = [...statuses, ...errorStatusesOf(operation)];
  return async (app, services) => {
    if (bodyOptions !== undefined) parseJsonBodies(app, bodyOptions);
    app.route({
      method,
      url,
      config: {
        ...(cost !== undefined && { cost }),
        ...(costsByItemsOf && { costsByItemsOf }),
        ...(submits !== undefined && { submits }),
      },
      schema: {
        operationId,
        summary,
        ...(description !== undefined && { description }),
        tags: [tag],
        ...(cost === undefined && { security: [] }),
        ...(params && { params }),
        querystring: query,
        ...(body && { body }),
        response: { 200: response, ...Object.fromEntries(errors.map((status) => [status, errorEnvelope])) },
      },
      handler: (request, reply) => handler(services, request, reply),
    });
  };
}

/** 400 is also the status of an unknown query parameter, which any operation refuses. */
function errorStatusesOf({ cost, body, submits, errors = [] }: AnyOperation): ErrorStatus[] {
  return [
    400,
    500,
    503,
    ...(cost === undefined ? [] : ([401, 429] as const)),
    ...(body === undefined ? [] : ([413, 415] as const)),
    ...(submits === true ? ([403] as const) : []),
    ...errors,
  ];
}
