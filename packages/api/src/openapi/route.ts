/**
 * Operations of the API. One definition gives a route its validation and cost, and openapi.json its
 * description. Handlers return the body of a 200; errors are thrown.
 */
import { type Awaitable, type BoundStatement, type HttpError, type IndexState, type Reading } from '@kasgres/reads';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { BodyOptions } from '../http/json-body.ts';
import { callerOf } from '../http/request-identity.ts';
import type { ErrorStatus } from '../http/responses.ts';
import { noQuery } from '../http/validation.ts';
import { contentFrom, respond, StateResponses, type TagOf, withState } from '../http/respond.ts';
import type { NodeCaller } from '../node/node-calls.ts';
import type { Services } from '../services.ts';
import type { tags } from './info.ts';

export type ApiPlugin = FastifyPluginAsync<Services>;

export interface Callback {
  name: string;
  /** An expression of OpenAPI. */
  url: string;
  summary: string;
  body: z.ZodType;
}

export interface Operation<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Response extends z.ZodType,
> {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  url: string;
  operationId: string;
  summary: string;
  description?: string;
  tag: (typeof tags)[number]['name'];
  /** Left out of openapi.json. */
  isHidden?: boolean;
  /** Request units. An operation without a cost needs no key. */
  cost?: number;
  /**
   * Counts the items of a request: each group of ITEMS_PER_COST items, also an incomplete one,
   * costs as much as the operation.
   */
  countItems?(body: z.output<Body>): number;
  /** Whether it is refused to anonymous clients also where they are served. */
  requiresKey?: boolean;
  /** Whether a stream token in the query may replace the key. */
  acceptsToken?: boolean;
  /** Whether it submits to the network, which a read-only key may not do. */
  submits?: boolean;
  params?: Params;
  query?: Query;
  body?: Body;
  bodyOptions?: BodyOptions;
  response: Response;
  /** Requests to the client that follow from this one. */
  callback?: Callback;
  /** Default: JSON. */
  responseType?: 'text/plain' | 'text/event-stream';
  /** Text that clients may ask for instead. */
  alternativeType?: 'text/csv';
  /** Statuses beside those that every operation of its kind has. */
  errors?: readonly ErrorStatus[];
}

interface Input<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  params: z.output<Params>;
  query: z.output<Query>;
  body: z.output<Body>;
}

export interface AnyOperation extends Operation<z.ZodType, z.ZodType, z.ZodType, z.ZodType> {
  isFromIndex: boolean;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    operation?: AnyOperation;
  }
}

type Handler = (services: Services, request: FastifyRequest, reply: FastifyReply) => Awaitable<unknown>;

/** The input of the function that makes a response. */
export interface Responding {
  services: Services;
  request: FastifyRequest;
  reply: FastifyReply;
}

interface FromIndex<GivenInput> {
  /** The entity tag is of the state of the index, or of the content (http/respond.ts). */
  tagOf?: TagOf | ((input: GivenInput) => TagOf);
}

const tagFor = <GivenInput>(tagOf: FromIndex<GivenInput>['tagOf'], input: GivenInput): TagOf =>
  typeof tagOf === 'function' ? tagOf(input) : (tagOf ?? 'state');

/** Defines an operation that needs only the state of the index, which is in memory. */
export function stateRoute<Response extends z.ZodType>(
  operation: Operation<z.ZodUnknown, z.ZodUnknown, z.ZodUnknown, Response>,
  toResponse: (state: IndexState) => z.output<Response>,
): ApiPlugin {
  const stateResponses = new StateResponses(toResponse, operation.responseType === 'text/plain');
  return define({ ...operation, isFromIndex: true }, ({ index }, request, reply) =>
    stateResponses.respond(index, request, reply),
  );
}

/** Makes a response of what a statement selects, where that needs code. */
interface Finish<GivenInput, Response> {
  /**
   * Returns undefined for requests whose response is what the statement selects, which is then not
   * even parsed.
   */
  finishOf?: (input: GivenInput) => ((selected: Response, responding: Responding) => Awaitable<Response>) | undefined;
}

/**
 * Defines an operation whose response is one statement.
 * @param bind may use of the state only what never changes: the network, and that the first
 * catch-up has finished
 */
export function statementRoute<
  Response extends z.ZodType,
  Params extends z.ZodType = z.ZodUnknown,
  Query extends z.ZodType = z.ZodUnknown,
  Body extends z.ZodType = z.ZodUnknown,
>(
  operation: Operation<Params, Query, Body, Response> &
    FromIndex<Input<Params, Query, Body>> &
    Finish<Input<Params, Query, Body>, z.output<Response>>,
  bind: (
    input: Input<Params, Query, Body>,
    settled: IndexState,
    services: Services,
    caller: string,
  ) => BoundStatement<z.output<Response>> | Promise<BoundStatement<z.output<Response>>>,
  /** Makes the errors of the problems that the statement may name. */
  problems: Readonly<Record<string, (state: IndexState, input: Input<Params, Query, Body>) => HttpError>> = {},
): ApiPlugin {
  const { tagOf, finishOf, ...rest } = operation;
  return define({ ...rest, isFromIndex: true }, (services, request, reply) => {
    const { index } = services;
    const input = request as Input<Params, Query, Body>;
    return respond(index, request, reply, tagFor(tagOf, input), async () => {
      const caller = callerOf(request);
      const statement = await bind(input, await index.getSettledState(), services, caller);
      const { state, problem, body } = await index.run(statement, caller);
      if (problem !== null) {
        throw withState(problems[problem]?.(state, input) ?? new Error(`unknown problem: ${problem}`), state);
      }
      const finish = finishOf?.(input);
      if (finish === undefined || body === null) return { state, body };
      const selected = JSON.parse(body.toString()) as z.output<Response>;
      return { state, body: await finish(selected, { services, request, reply }) };
    });
  });
}

/** Defines an operation that is read from the index by several queries, with an entity tag. */
export function indexRoute<
  Response extends z.ZodType,
  Params extends z.ZodType = z.ZodUnknown,
  Query extends z.ZodType = z.ZodUnknown,
  Body extends z.ZodType = z.ZodUnknown,
>(
  operation: Operation<Params, Query, Body, Response> & FromIndex<Input<Params, Query, Body>>,
  /** A Buffer has JSON. */
  read: (reading: Reading, input: Input<Params, Query, Body>) => Promise<z.output<Response> | Buffer>,
): ApiPlugin {
  const { tagOf, ...rest } = operation;
  return define({ ...rest, isFromIndex: true }, ({ index }, request, reply) => {
    const input = request as Input<Params, Query, Body>;
    const readContent = (reading: Reading) => contentFrom(reading.state, () => read(reading, input));
    return respond(index, request, reply, tagFor(tagOf, input), () => index.read(readContent, callerOf(request)));
  });
}

/** Describes a route of another API, which openapi.json leaves out. */
export const hiddenOperation = (
  given: Pick<AnyOperation, 'method' | 'url' | 'cost' | 'countItems' | 'submits' | 'body' | 'bodyOptions'>,
): AnyOperation => ({
  ...given,
  operationId: `${given.method} ${given.url}`,
  summary: '',
  tag: 'Status',
  isHidden: true,
  isFromIndex: false,
  response: z.unknown(),
});

export interface RequestContext {
  services: Services;
  /** The node, where the caller takes turns with others. */
  node: NodeCaller;
  caller: string;
  request: FastifyRequest;
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
  return define({ ...operation, isFromIndex: false }, (services, request, reply) => {
    const caller = callerOf(request);
    const context = { services, node: services.nodeCalls.of(caller), caller, request, reply };
    return handle(context, request as Input<Params, Query, Body>);
  });
}

/**
 * The body of operations without one, to which clients may send an empty object. Fastify validates
 * null if there is no body.
 */
const noBody = z.strictObject({}).nullable();

function define(operation: AnyOperation, handler: Handler): ApiPlugin {
  const { method, url, params, query = noQuery, body = method === 'GET' ? undefined : noBody } = operation;
  return async (app, services) => {
    app.route({
      method,
      url,
      // A HEAD of a stream would not end.
      exposeHeadRoute: operation.responseType !== 'text/event-stream',
      config: { operation },
      schema: { ...(params && { params }), querystring: query, ...(body && { body }) },
      handler: (request, reply) => {
        const body = handler(services, request, reply);
        if (body instanceof Promise) return body;
        // Fastify takes undefined, the body of a 304, for a response that is sent later.
        return void reply.send(body);
      },
    });
  };
}

/** Defines an operation whose handler sends its response itself. */
export function rawRoute<
  Response extends z.ZodType,
  Query extends z.ZodType = z.ZodUnknown,
  Body extends z.ZodType = z.ZodUnknown,
>(
  operation: Operation<z.ZodUnknown, Query, Body, Response>,
  handle: (
    services: Services,
    request: FastifyRequest,
    reply: FastifyReply,
    input: { query: z.output<Query>; body: z.output<Body> },
  ) => Promise<void>,
): ApiPlugin {
  return define({ ...operation, isFromIndex: false }, async (services, request, reply) => {
    await handle(services, request, reply, request as { query: z.output<Query>; body: z.output<Body> });
    return reply;
  });
}
