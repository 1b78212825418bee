/** GET /v1/programs/{hash}: a program, with its bytes and instructions if they are asked for. */
import { blake2b256, fromHex, toHex } from '@kasgres/kaspa';
import { disassemble, type Instruction, shapeOf, USES } from '@kasgres/programs';
import {
  hashInput,
  hex,
  hexOrNull,
  includeInput,
  inputFields,
  jsonObject,
  notFound,
  type ParameterOf,
  requireCaughtUp,
  statementsBy,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { chargeBeyond } from '../../limits/authentication.ts';
import { statementRoute } from '../../openapi/route.ts';
import { queryNumber } from '../../pages/page-query.ts';
import { lookUp } from '../shared.ts';
import { type DisassemblyJson, program, type ProgramJson, useNames } from './schemas.ts';

const MAX_INSTRUCTIONS = 1000;
const DEFAULT_INSTRUCTIONS = 100;
/** No script is longer. */
const MAX_OFFSET = 1_000_000;

/**
 * A look-up costs as much again for each of these that its bytes and instructions begin beyond the
 * first.
 */
const BYTES_PER_COST = 64 * 1024;
const COST = 0.1;

/** With what the program is read from, in hex. */
interface Selected extends ProgramJson {
  bareScript?: string | null;
  signatureScript?: string | null;
}

const uses = sql<ProgramJson['uses']>`to_json(array_remove(array[${sql.join(
  useNames.map((name) => sql`case when programs.uses & ${sql.lit(USES[name])} <> 0 then ${sql.lit(name)} end`),
)}]::text[], null))`;

/** The script of an output with the same bytes, which stays after the transaction is gone. */
const bareScript = sql<string | null>`(select encode(script, 'hex') from scripts where id = programs.script_id)`;

const signatureScript = sql<string | null>`(
  select ${inputFields(sql`transactions.accepted_variant`).signatureScript}
    from transaction_inputs input
  where not programs.is_bare and input.transaction_id = transactions.id
    and input.index = programs.index)`;

const programByHash = statementsBy(
  'program',
  (parameter: ParameterOf<{ hash: Uint8Array }>, { withScripts }: { withScripts: boolean }) => ({
    tables: { found: sql`select * from programs where hash = ${parameter('hash', 'bytea')}` },
    problem: sql<string | null>`case when not exists (select from found) then 'unknown' end`,
    body: jsonBuildObject({
      program: sql<Selected>`(
        select ${jsonObject<Selected>({
          hash: hex('programs.hash'),
          length: sql`programs.length`,
          uses,
          template: hexOrNull('program_templates.template'),
          kccTemplate: hexOrNull('programs.kcc_template'),
          isBare: sql`programs.is_bare`,
          firstSeen: sql`programs.first_seen`,
          firstRevealed: sql`case when revealing.id is not null then ${jsonObject<
            NonNullable<ProgramJson['firstRevealed']>
          >({
            transactionId: sql`encode(revealing.id, 'hex')`,
            source: sql`case when programs.is_bare then 'output' else 'input' end`,
            index: sql`programs.index`,
          })} end`,
          spendCount: sql`programs.spend_count`,
          ...(withScripts && { bareScript, signatureScript }),
        })}
        from found programs
        left join program_templates on program_templates.id = programs.template_id
        left join transactions on transactions.id = programs.transaction_id
        cross join lateral (
          select coalesce(transactions.transaction_id,
            pre_bootstrap_transaction_id(programs.transaction_id)) as id) revealing)`,
    }),
  }),
  ({ withScripts }) => ({ itemsOf: withScripts ? undefined : () => 1 }),
);

const toJson = ({ index, offset, opcode, name, push, data }: Instruction): DisassemblyJson['instructions'][number] => ({
  index,
  offset,
  opcode,
  name,
  push: push ?? null,
  data: data === undefined ? null : toHex(data),
});

function disassemblyOf(bytes: Uint8Array, page: { offset: number; limit: number }): DisassemblyJson {
  const { instructions, nextOffset, instructionCount, malformedAt } = disassemble(bytes, page);
  return {
    instructions: instructions.map(toJson),
    nextOffset: nextOffset ?? null,
    instructionCount,
    malformedAt: malformedAt ?? null,
  };
}

/**
 * After retention it is no longer known in which variant a transaction was accepted that blocks
 * carry again, and the program of another one has another hash.
 */
function bytesOf({ hash, bareScript, signatureScript }: Selected): Uint8Array | undefined {
  if (typeof bareScript === 'string') return fromHex(bareScript);
  const bytes = typeof signatureScript === 'string' ? shapeOf(fromHex(signatureScript)).lastPush : undefined;
  return bytes !== undefined && toHex(blake2b256(bytes)) === hash ? bytes : undefined;
}

export const getProgram = statementRoute(
  {
    ...lookUp('Program', '/v1/programs/:hash', 'getProgram'),
    summary: 'A program that an accepted spend has revealed, by its hash',
    description: `With \`include\`, the request costs ${COST} request units for each ${BYTES_PER_COST / 1024} KiB of bytes and instructions that the response has, begun ones too.`,
    params: z.strictObject({ hash: hashInput }),
    query: z.strictObject({
      include: includeInput('bytes', 'disassembly').meta({
        description: '`bytes`, `disassembly` or both with a comma adds the bytes and a page of instructions',
      }),
      offset: queryNumber(0, MAX_OFFSET, 'Number of instructions to skip').default(0),
      limit: queryNumber(
        1,
        MAX_INSTRUCTIONS,
        `Largest number of instructions; ${DEFAULT_INSTRUCTIONS} by default`,
      ).default(DEFAULT_INSTRUCTIONS),
    }),
    response: z.object({ program }),
    errors: [404],
    finishOf: ({ query: { include, offset, limit } }) =>
      include &&
      (async ({ program: selected }, { services, request, reply }) => {
        const bytes = bytesOf(selected);
        const { bareScript: _bare, signatureScript: _signature, ...shown }: Selected = selected;
        if (include.has('bytes')) shown.bytes = bytes === undefined ? null : toHex(bytes);
        if (include.has('disassembly'))
          shown.disassembly = bytes === undefined ? null : disassemblyOf(bytes, { offset, limit });
        const size = (shown.bytes?.length ?? 0) + JSON.stringify(shown.disassembly ?? null).length;
        const units = Math.ceil(size / BYTES_PER_COST) - 1;
        await chargeBeyond(services, request, reply, Math.round(units * COST * 100) / 100);
        return { program: shown };
      }),
  },
  ({ params, query }, settled) => {
    requireCaughtUp(settled);
    return programByHash({ withScripts: query.include !== undefined }).with(params);
  },
  {
    unknown: () =>
      notFound('Unknown program: no accepted spend has revealed it, or it has none of the opcodes that are kept'),
  },
);
