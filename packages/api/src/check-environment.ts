/** Prints the problems of the environment of the API. */
import { printEnvProblems } from '@kasgres/runtime';
import { envSchema } from './env.ts';

printEnvProblems(envSchema, process.env);
