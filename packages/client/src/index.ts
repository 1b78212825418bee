/** A typed client of the Kasgres HTTP API, for Node from version 20 on and for browsers. */
export { ApiError, type ErrorDetail } from './api-error.ts';
export { type Client, type ClientOptions, createClient } from './client.ts';
export type { GetPath, PostPath, Request, ResponseBody, Schema } from './operations.ts';
export type { Item, ListingPath, ListingRequest } from './paginate.ts';
export type { RetryOptions } from './retry.ts';
export { StreamError, type StreamEvent, type StreamStep, type SubscribeOptions } from './subscribe.ts';
