/**
 * A worker of the pool's tests: squares numbers, fails on negative ones, and ends its thread on
 * zero.
 */
import { serveJobs } from '../worker-pool.ts';

serveJobs((value: number): number => {
  if (value < 0) throw new RangeError(`${value} is negative`);
  if (value === 0) process.exit(3);
  return value * value;
});
