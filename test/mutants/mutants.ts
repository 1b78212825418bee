/**
 * The bugs that `npm run test:mutants` plants. Each is one that a change could make by accident. A
 * new mechanism gets a mutant here when it gets its tests.
 */
import { API_MUTANTS } from './api-mutants.ts';
import { INDEX_MUTANTS } from './index-mutants.ts';
import type { Mutant } from './mutant.ts';

export const MUTANTS: readonly Mutant[] = [...INDEX_MUTANTS, ...API_MUTANTS];
