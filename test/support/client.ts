/** The sources of `@kasgres/client`: the package itself has JavaScript only after its build. */
export {
  ApiError,
  type Client,
  type ClientOptions,
  createClient,
  type ResponseBody,
  type Schema,
  StreamError,
  type StreamEvent,
  type StreamStep,
  type SubscribeOptions,
} from '../../packages/client/src/index.ts';
