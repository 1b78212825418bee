/** The operations of the API as types, by the paths of openapi.json. */
import type { FetchOptions, FetchResponse } from 'openapi-fetch';
import type { components, paths } from './generated/api.ts';

export type { paths };

/** A schema by its name in openapi.json: `Schema<'RestTransaction'>`. */
export type Schema<Name extends keyof components['schemas']> = components['schemas'][Name];

export type Method = 'get' | 'post';

/** The paths that have an operation of this method. */
type PathWith<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends Record<M, { responses: object }> ? Path : never;
}[keyof paths];

export type GetPath = PathWith<'get'>;
export type PostPath = PathWith<'post'>;

type Operation<M extends Method, Path extends PathWith<M>> =
  paths[Path] extends Record<M, infer O extends object> ? O : never;

/**
 * The parameters (`params.path`, `params.query`), the body, and options of `fetch` (`signal`, …).
 */
export type Request<M extends Method, Path extends PathWith<M>> = FetchOptions<Operation<M, Path>>;

/** The body of a response with status 200. */
export type ResponseBody<M extends Method, Path extends PathWith<M>> = NonNullable<
  FetchResponse<Operation<M, Path>, object, 'application/json'>['data']
>;

/** The request as an argument, which is optional if nothing in it is required. */
export type Argument<R> = object extends R ? [request?: R] : [request: R];
