/** The environment of the command, for the documentation. */
export { cliEnvSchema } from './env.ts';
