/**
 * An honest client and every known abuse at the same time, on one machine:
 *
 *   node bench/attacks.ts [--seconds 600] [--apart 0] [--quiet 60] [--payments 30000] [--only TEXT,…] [--json]
 *
 * Starts a simulated network that grows, an embedded Postgres and each program as a process.
 * Measures the client (victim.ts) while nothing else happens, then during each attack alone for
 * --apart seconds, and during all of them together for --seconds. --only selects attacks whose
 * names contain a text. Exits with 1 unless the client's requests all succeed with a p99 of at most
 * max(500 ms, 5 × quiet), its events have a p99 of at most a second, its webhooks are delivered,
 * every program survives, the memory of the API stays flat, every attack was attempted without
 * reaching what it must not, and `kasgres verify` finds nothing afterwards.
 */
import { createKey } from '@kasgres/database';
import { sleep } from '@kasgres/runtime';
import { startProgram } from '../test/support/programs.ts';
import { findApplicationSamples } from './application-samples.ts';
import { type Attacked, requireRunning, startAttacked } from './attacked-programs.ts';
import type { AllOutcomes } from './attackers.ts';
import { type AttackOptions, countOf, type Outcomes } from './attackers/attack.ts';
import { ATTACKS } from './attackers/index.ts';
import { HelperProcess } from './helper-process.ts';
import { describeMachine, exit, markdownTable, percentile, readOptions } from './options.ts';
import { readMemory } from './process-usage.ts';
import { type Measured, type MeasuredRequest, timesOf, Victim } from './victim.ts';

const P99_MS = 500;
const P99_FACTOR = 5;
const EVENT_P99_MS = 1_000;
const MEMORY_EVERY_MS = 5_000;
/** The greatest ratio of the memory in the last third of the attack to that in the second. */
const MEMORY_GROWTH = 1.15;
/** Below, thirds are too short to tell growth from noise. */
const MIN_MEMORY_SECONDS = 300;
/** Attackers stop what they hold within this time. */
const END_MS = 90_000;
const FULL_MEMPOOL = 'full mempool';
/** Longer than the API pauses after a listing of the largest mempool. */
const MEMPOOL_EVERY_MS = 30_000;

const options = readOptions({ seconds: 600, apart: 0, quiet: 60, payments: 30_000, only: '' });
const names = selectAttacks(options.only);
const problems: string[] = [];

/** A measurement of the client, and what the attackers did meanwhile. */
interface Phase {
  name: string;
  measured: Measured;
  outcomes: AllOutcomes;
  /** Memory of the API, in MB. */
  memory: number[];
}

/** Items of the index that the attackers ask for. */
type Samples = Pick<AttackOptions, 'addresses' | 'applications'>;

const phases: Phase[] = [];
await run();
if (options.json) {
  const described = phases.map((phase) => ({ ...figuresOf(phase), outcomes: phase.outcomes }));
  console.log(JSON.stringify({ machine: describeMachine(), phases: described, problems }, null, 2));
} else {
  printTables();
}
for (const problem of problems) console.error(`FAILED: ${problem}`);
console.error(problems.length === 0 ? 'passed' : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;

function selectAttacks(only: string): string[] {
  const all = [...ATTACKS.map(({ name }) => name), FULL_MEMPOOL];
  const wanted = only.split(',').map((text) => text.trim().toLowerCase());
  const unknown = wanted.filter((text) => !all.some((name) => name.toLowerCase().includes(text)));
  if (unknown.length > 0) exit(`no attack is named ${unknown.join(', ')}; there are:\n${all.join('\n')}`);
  return all.filter((name) => wanted.some((text) => name.toLowerCase().includes(text)));
}

async function run(): Promise<void> {
  await using ends = new AsyncDisposableStack();
  const attacked = await startAttacked(ends, options.payments);
  const { database, target, nodeUrl } = attacked;
  const { rows } = await database.pool.query<{ address: string; count: string }>(
    `select s.address, b.transaction_count as count from balances b join scripts s on s.id = b.script_id
      where s.address is not null order by b.transaction_count desc limit 1000`,
  );
  const addresses = rows.map(({ address }) => address);
  const samples: Samples = { addresses, applications: await findApplicationSamples(database) };
  console.error(`${describeMachine()}; the longest history has ${rows[0]?.count} transactions`);
  const { key } = await createKey(database.kysely, { name: 'victim', rateRu: 1_000 });
  const victim = await Victim.open({ url: target.url, nodeUrl, key, addresses });
  try {
    const quiet = await measure('quiet', attacked, () => victim.measure(options.quiet));
    const p99Ms = Math.max(P99_MS, P99_FACTOR * percentile(timesOf(quiet.measured.requests), 0.99));
    const apart = options.apart > 0 ? names.map((name) => [name, [name], options.apart] as const) : [];
    const together = options.seconds > 0 ? [['all together', names, options.seconds] as const] : [];
    for (const [name, attacks, seconds] of [...apart, ...together])
      check(await attack(name, attacks, seconds, victim, attacked, samples), p99Ms);
  } finally {
    await victim.close();
  }
  const verify = startProgram('../../packages/cli/bin/kasgres.js', { nodeUrl, databaseUrl: database.url }, {}, [
    'verify',
  ]);
  const code = await verify.exited;
  if (code !== 0) problems.push(`kasgres verify ended with ${code}:\n${verify.output()}`);
}

async function measure(name: string, attacked: Attacked, work: () => Promise<Measured>): Promise<Phase> {
  const over = new AbortController();
  const memory: number[] = [];
  const watching = (async () => {
    for (; !over.signal.aborted; await sleep(MEMORY_EVERY_MS)) {
      const bytes = await readMemory(attacked.programs['API']?.processId ?? 0, 'VmRSS');
      memory.push(Math.round((bytes ?? 0) / 1e6));
    }
  })();
  const phase: Phase = { name, measured: await work(), outcomes: {}, memory };
  over.abort();
  await watching;
  phases.push(phase);
  console.error(JSON.stringify(figuresOf(phase)));
  return phase;
}

async function attack(
  name: string,
  attacks: readonly string[],
  seconds: number,
  victim: Victim,
  attacked: Attacked,
  samples: Samples,
): Promise<Phase> {
  const keys = await createKeys(attacked, attacks);
  const attackOptions: AttackOptions = { ...attacked.target, ...samples, seconds, attacks, keys };
  let outcomes: AllOutcomes = {};
  const begin = async (): Promise<void> => {
    const [ofMempool, ofAttackers] = await Promise.all([
      attacks.includes(FULL_MEMPOOL) ? fillMempool(attacked, seconds) : undefined,
      attacks.some((one) => one !== FULL_MEMPOOL) ? runAttackers(attackOptions) : {},
    ]);
    outcomes = { ...ofAttackers, ...(ofMempool && { [FULL_MEMPOOL]: ofMempool }) };
  };
  const phase = await measure(name, attacked, () => victim.measure(seconds, begin));
  phase.outcomes = outcomes;
  for (const one of attacks) checkOutcomes(one, outcomes[one] ?? {}, attackOptions);
  requireRunning(attacked.programs);
  return phase;
}

async function createKeys({ database }: Attacked, attacks: readonly string[]): Promise<Record<string, string[]>> {
  const keys: Record<string, string[]> = {};
  for (const { name, keys: count = 0 } of ATTACKS.filter((one) => attacks.includes(one.name))) {
    keys[name] = [];
    while (keys[name].length < count) keys[name].push((await createKey(database.kysely, { name })).key);
  }
  return keys;
}

async function runAttackers(attack: AttackOptions): Promise<AllOutcomes> {
  await using helper = new HelperProcess('attackers.ts');
  helper.send(attack);
  return await helper.receive<AllOutcomes>(attack.seconds * 1_000 + END_MS);
}

/**
 * Makes the node's mempool full of small and of large transactions by turns. Returns how often the
 * API has listed each.
 */
async function fillMempool({ mempool }: Attacked, seconds: number): Promise<Outcomes> {
  const before = await mempool.countListings();
  const endsAt = performance.now() + seconds * 1_000;
  for (let turn = 0; performance.now() < endsAt; turn += 1) {
    mempool.fill(turn % 2 === 0 ? 'large' : 'many');
    await sleep(Math.min(MEMPOOL_EVERY_MS, Math.max(0, endsAt - performance.now())));
  }
  const after = await mempool.countListings();
  mempool.fill('few');
  const outcomes: Outcomes = {};
  for (const kind of ['many', 'large'] as const) outcomes[`listings of ${kind}`] = after[kind] - before[kind];
  return outcomes;
}

/** An attack that does nothing proves nothing. */
function checkOutcomes(name: string, outcomes: Outcomes, options: AttackOptions): void {
  const attempts = attemptsOf(outcomes) - (outcomes['error'] ?? 0);
  if (attempts === 0) problems.push(`the attack "${name}" was not attempted: ${JSON.stringify(outcomes)}`);
  const fault = ATTACKS.find((one) => one.name === name)?.findFault?.(outcomes, options);
  if (fault !== undefined) problems.push(`the attack "${name}": ${fault}`);
}

function check({ name, measured, memory }: Phase, p99Ms: number): void {
  const { requests, failures, events, deliveryTimes, deliveryFaults } = measured;
  const report = (problem: string): void => void problems.push(`${name}: ${problem}`);
  const [first] = failures;
  if (first !== undefined) report(`${failures.length} requests of the client failed, the first with ${first}`);
  const p99 = percentile(timesOf(requests), 0.99);
  if (!(p99 <= p99Ms)) {
    const byPath = describeP99s(requests, ({ path }) => path);
    const byMinute = describeP99s(requests, ({ sentAt }) => `minute ${Math.floor(sentAt / 60) + 1}`);
    report(`the p99 of its requests is ${p99.toFixed(0)} ms, above ${p99Ms.toFixed(0)}: ${byPath}; ${byMinute}`);
  }
  if (events.missing > 0) report(`${events.missing} of its events are missing`);
  if (!(events.p99Ms <= EVENT_P99_MS))
    report(`the p99 of its events is ${events.p99Ms.toFixed(0)} ms, above ${EVENT_P99_MS}`);
  if (deliveryTimes.length === 0) report('none of its webhooks was delivered');
  for (const fault of new Set(deliveryFaults)) report(fault);
  if (memory.length * MEMORY_EVERY_MS < MIN_MEMORY_SECONDS * 1_000) return;
  const third = Math.floor(memory.length / 3);
  const [middle, last] = [Math.max(...memory.slice(third, 2 * third)), Math.max(...memory.slice(2 * third))];
  if (last > middle * MEMORY_GROWTH) report(`the memory of the API grew from ${middle} to ${last} MB`);
}

function describeP99s(requests: readonly MeasuredRequest[], groupOf: (request: MeasuredRequest) => string): string {
  return [...Map.groupBy(requests, groupOf)]
    .map(([group, ofGroup]) => `${percentileMs(timesOf(ofGroup), 0.99)} of ${group}`)
    .join(', ');
}

function figuresOf({ name, measured, memory }: Phase) {
  const { requests, failures, events, deliveryTimes } = measured;
  const times = timesOf(requests);
  return {
    name,
    requests: times.length,
    failed: failures.length,
    p50Ms: percentileMs(times, 0.5),
    p99Ms: percentileMs(times, 0.99),
    events: events.events,
    eventP50Ms: Math.round(events.p50Ms),
    eventP99Ms: Math.round(events.p99Ms),
    deliveries: deliveryTimes.length,
    deliveryP50Ms: percentileMs(deliveryTimes, 0.5),
    deliveryP99Ms: percentileMs(deliveryTimes, 0.99),
    memoryMb: Math.max(...memory),
  };
}

function percentileMs(values: readonly number[], share: number): number {
  return Math.round(percentile(values, share));
}

function printTables(): void {
  const head = [
    '',
    'requests',
    'failed',
    'p50 ms',
    'p99 ms',
    'events',
    'p50 ms',
    'p99 ms',
    'deliveries',
    'p50 ms',
    'p99 ms',
    'API MB',
  ];
  const rows = phases.map((phase) => Object.values(figuresOf(phase)));
  console.log(`${markdownTable(head, rows)}\n`);
  const outcomeRows = phases.flatMap(({ name: phase, outcomes }) =>
    Object.entries(outcomes).map(([attack, given]) => {
      const others = Object.entries(given).filter(([outcome]) => !/^[245]\d\d$/.test(outcome));
      const hundreds = ([2, 4, 5] as const).map((hundred) => countOf(given, hundred));
      return [phase, attack, ...hundreds, others.map(([outcome, times]) => `${times} ${outcome}`).join(', ')];
    }),
  );
  console.log(`${markdownTable(['', 'attack', '2xx', '4xx', '5xx', 'other outcomes'], outcomeRows)}\n`);
}

function attemptsOf(outcomes: Outcomes): number {
  return Object.values(outcomes).reduce((sum, times) => sum + times, 0);
}
