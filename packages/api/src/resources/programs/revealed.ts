/** Selects the program that an input of an accepted transaction runs. */
import { hexOrNull, jsonObject } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import type { z } from 'zod';
import type { revealedProgram } from './schemas.ts';

type RevealedJson = z.infer<typeof revealedProgram>;

/** The hash to which a P2SH script commits. */
const committedHash = sql`substring(script.script from 3 for 32)`;

const template = hexOrNull('program_templates.template');

const bareProgram = sql<RevealedJson | null>`(
  select ${jsonObject<RevealedJson>({ hash: sql`encode(programs.hash, 'hex')`, template })}
  from programs left join program_templates on program_templates.id = programs.template_id
  where programs.script_id = script.id limit 1)`;

/**
 * Selects the program of a row `script`, a script that is spent; null if it is neither P2SH nor a
 * known bare script.
 */
export const programOfScript: RawBuilder<RevealedJson | null> = sql`
  case script.type
    when 'scripthash' then ${jsonObject<RevealedJson>({
      hash: sql`encode(${committedHash}, 'hex')`,
      template: sql`(
        select ${template} from programs
          left join program_templates on program_templates.id = programs.template_id
        where programs.hash = ${committedHash})`,
    })}
    when 'nonstandard' then ${bareProgram}
  end`;
