/** For tests only: programs start the API as a process (main.ts). */
export { openDatabase, PLANNER_SETTINGS } from './database.ts';
export { type ExampleChain, type ExampleRequest, exampleRequests } from './docs/example-requests.ts';
export { envSchema } from './env.ts';
export { MemoryWindows } from './limits/memory-windows.ts';
export { createMetrics } from './metrics.ts';
export { generateDocument } from './openapi/generate.ts';
export { createServer, type ServerOptions } from './server.ts';
export { createServices, type Services } from './services.ts';
