import { runIndexerProgram } from './program.ts';

await runIndexerProgram();
