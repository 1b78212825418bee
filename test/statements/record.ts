/**
 * Records the statements of the API, and writes them as JSON. A separate process, since it counts
 * what runs from the first module on.
 */
import { Recorder, type RecordedStatement, startCoverage } from './recorder.ts';

export interface Recording {
  /** By `area/operation`. */
  sections: [string, RecordedStatement[]][];
  /** The `packages/api/src/…:82` of SQL that no request evaluates. */
  unreached: string[];
  /** How responses differ from openapi.json, and properties of it that no response has. */
  faults: string[];
  unseen: string[];
}

const finishCoverage = await startCoverage();
const [{ openFixture }, { recordOperations }, { recordPrograms }] = await Promise.all([
  import('./fixture.ts'),
  import('./operations.ts'),
  import('./programs.ts'),
]);
const recorder = new Recorder();
const fixture = await openFixture();
const found = await recordOperations(fixture, recorder);
// It reads keys again at any time.
await fixture.admission.close();
await recordPrograms(fixture, recorder);
recorder.pause();
await fixture.close();
const recording: Recording = { sections: [...recorder.sections], unreached: await finishCoverage(), ...found };
process.stdout.write(JSON.stringify(recording), () => process.exit());
