/**
 * The process of the attackers: it gets AttackOptions from its parent, lets the attacks run at once
 * until the end, and sends the outcomes of each. Separate, so that it does not slow down the
 * legitimate client of attacks.ts.
 */
import { sleep } from '@kasgres/runtime';
import { Attacker, type AttackOptions, type Outcomes } from './attackers/attack.ts';
import { ATTACKS } from './attackers/index.ts';

/** Outcomes of all attackers by the name of the attack. */
export type AllOutcomes = Record<string, Outcomes>;

/** After the end of the attacks. Later responses are not counted. */
const LAST_RESPONSES_MS = 35_000;

process.once('message', (options: AttackOptions) => void attack(options));
process.once('disconnect', () => process.exit());

async function attack(options: AttackOptions): Promise<void> {
  const outcomes: AllOutcomes = {};
  const chosen = ATTACKS.filter(({ name }) => options.attacks.includes(name));
  const all = Promise.all(
    chosen.map(async (one) => {
      const attacker = new Attacker(one, options);
      outcomes[one.name] = attacker.outcomes;
      await one.run(attacker);
    }),
  );
  // A server that is still busy with the attacks must not hold up the report.
  await Promise.race([all, sleep(options.seconds * 1_000 + LAST_RESPONSES_MS)]);
  process.send?.(outcomes);
  // Connections that are held would keep the process.
  process.disconnect();
}
