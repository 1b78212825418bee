/**
 * One prom-client registry per process. Each program declares its metrics in one file, named
 * `kasgres_<part>_<what>_<unit>`, against the registry it is given here.
 */
import { collectDefaultMetrics, Registry } from 'prom-client';

export { Counter, Gauge, Histogram, Registry } from 'prom-client';

/** A registry with the process's own figures (CPU, memory, event loop), every line labelled with the program. */
export function createRegistry(program: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ program });
  collectDefaultMetrics({ register: registry });
  return registry;
}
