/** Exports for tests and tools only: programs start the API as a process (main.ts). */
export { openDatabase, PLANNER_SETTINGS } from '@kasgres/reads';
export { type ExampleChain, type ExampleRequest, exampleRequests } from './openapi/example-requests.ts';
export { envSchema } from './env.ts';
export { toHttpError } from './http/to-http-error.ts';
export { Admission } from './limits/admission.ts';
export { MemoryWindows } from './limits/windows.ts';
export { createMetrics } from './metrics/metrics.ts';
export { generateDocument } from './app.ts';
export { createServer } from './server.ts';
export { createServices, type Services } from './services.ts';
export { webhooksEnvSchema } from '@kasgres/webhooks';
