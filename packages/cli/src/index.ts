// What the rest of the workspace may use of the command: its environment, for the documentation.
export { cliEnvSchema } from './env.ts';
