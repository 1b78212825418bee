/** A typed client of the Kasgres HTTP API: runs wherever `fetch` is, in Node from 20 on and in browsers. */
export { ApiError, type ErrorDetail } from './api-error.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export type { Answer, GetPath, PostPath, Request, Schema } from './operations.ts';
export type { Item, ListingPath, ListingRequest } from './paginate.ts';
export type { RetryOptions } from './retry.ts';
