/** Prints the problems of the environment of the indexer. */
import { printEnvProblems } from '@kasgres/runtime';
import { envSchema, REPLACED_VARIABLES } from './env.ts';

printEnvProblems(envSchema, process.env, REPLACED_VARIABLES);
