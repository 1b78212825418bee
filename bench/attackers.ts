/**
 * The process of the attackers: it gets AttackOptions from its parent, lets the attacks run at once until the end, and sends the outcomes of each.
 * Separate, so that it does not slow down the legitimate client of attacks.ts.
 */
import { Attacker, type AttackOptions, type Outcomes } from './attackers/attack.ts';
import { ATTACKS } from './attackers/index.ts';

/** Outcomes of all attackers by the name of the attack. */
export type AllOutcomes = Record<string, Outcomes>;

process.once('message', (options: AttackOptions) => void attack(options));
process.once('disconnect', () => process.exit());

async function attack(options: AttackOptions): Promise<void> {
  const outcomes: AllOutcomes = {};
  const chosen = ATTACKS.filter(({ name }) => options.attacks.includes(name));
  await Promise.all(
    chosen.map(async (one) => {
      const attacker = new Attacker(one, options);
      outcomes[one.name] = attacker.outcomes;
      await one.run(attacker);
    }),
  );
  process.send?.(outcomes);
  // Connections that are held would keep the process.
  process.disconnect();
}
