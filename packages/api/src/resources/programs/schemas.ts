/** Programs and templates in responses. */
import { USES, type Use } from '@kasgres/programs';
import { count, hash, hexBytes, timestamp } from '@kasgres/reads';
import { z } from 'zod';

const programTemplate = hash.nullable().meta({ description: 'Null if the program does not parse' });

export const revealedProgram = z.object({ hash, template: programTemplate }).meta({ id: 'RevealedProgram' });

export const useNames = Object.keys(USES) as [Use, ...Use[]];

const instruction = z.object({
  index: count.meta({ description: 'Number of instructions before it' }),
  offset: count.meta({ description: 'Where it begins, in bytes' }),
  opcode: z.int().min(0).max(255),
  name: z.string().meta({ description: "The node's name of the opcode" }),
  push: count.nullable().meta({ description: 'Number of pushes before it; null if it is none' }),
  data: hexBytes
    .nullable()
    .meta({ description: 'The bytes that a data push has; empty for `OpFalse`, null for other opcodes' }),
});

const disassembly = z
  .object({
    instructions: z.array(instruction),
    nextOffset: count.nullable().meta({ description: '`offset` of the next page; null at the end' }),
    instructionCount: count.meta({ description: 'Of the whole program' }),
    malformedAt: count.nullable().meta({ description: 'The byte from which it does not parse; null if it does' }),
  })
  .meta({ id: 'Disassembly' });

export const program = z
  .object({
    hash,
    length: count.meta({ description: 'Bytes' }),
    uses: z.array(z.enum(useNames)).meta({ description: 'Families of opcodes that it has' }),
    template: programTemplate,
    kccTemplate: hash.nullable().meta({
      description: 'Template hash of KCC-1; null unless a file of names says which pushes are the state',
    }),
    isBare: z
      .boolean()
      .meta({ description: 'Whether it was known first as an output script, not as the preimage of one' }),
    firstSeen: timestamp,
    firstRevealed: z
      .object({ transactionId: hash, source: z.enum(['input', 'output']), index: count })
      .nullable()
      .meta({
        description:
          'The input that revealed it first, or the output with the bare script; null after retention removed it',
      }),
    spendCount: count.meta({ description: 'Accepted inputs that revealed it, or spent the bare script' }),
    bytes: hexBytes
      .nullable()
      .optional()
      .meta({ description: 'Only with `include=bytes`; null after retention removed it' }),
    disassembly: disassembly
      .nullable()
      .optional()
      .meta({ description: 'Only with `include=disassembly`; null after retention removed the program' }),
  })
  .meta({ id: 'Program' });

export type ProgramJson = z.infer<typeof program>;
export type DisassemblyJson = z.infer<typeof disassembly>;

const templateName = z.object({
  name: z.string(),
  source: z.string().meta({ description: 'Where the name is published' }),
  description: z.string().nullable(),
  importedFrom: z.string().meta({ description: 'The imported file' }),
});

const namedTemplate = templateName
  .extend({
    pushes: z.array(z.object({ push: count, name: z.string(), type: z.string() })).meta({
      description: 'Names and types of numbered pushes',
    }),
    required: z
      .array(z.object({ push: count, value: hexBytes.optional(), hash: hash.optional() }))
      .meta({ description: 'Values, or BLAKE2b-256 of values, without which the name does not apply' }),
    state: z
      .object({ first: count, last: count })
      .nullable()
      .meta({ description: 'The first and the last push of the state' }),
    seen: z
      .array(z.object({ network: z.string(), transaction: hash }))
      .meta({ description: 'Transactions that reveal a program of it' }),
  })
  .meta({ id: 'TemplateName' });

const counts = {
  template: hash,
  programCount: count,
  spendCount: count.meta({ description: 'Accepted inputs that revealed its programs' }),
  covenantCount: count.meta({ description: 'Covenants whose last known program has it' }),
  firstSeen: timestamp,
};

export const listedTemplate = z
  .object({
    ...counts,
    names: z
      .array(templateName)
      .meta({ description: 'Claims of imported files, up to 10: look-alikes have the same template' }),
  })
  .meta({ id: 'Template' });

export const templateDetails = z
  .object({
    ...counts,
    names: z
      .array(namedTemplate)
      .meta({ description: 'Claims of imported files, up to 100, those with most required constants first' }),
  })
  .meta({ id: 'TemplateDetails' });

export type TemplateNameJson = z.infer<typeof templateName>;
export type NamedTemplateJson = z.infer<typeof namedTemplate>;
export type TemplateCounts = Omit<z.infer<typeof listedTemplate>, 'names'>;
