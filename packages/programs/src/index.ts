/**
 * Reads the uses of transactions: programs of scripts, covenants, and operations of protocols in
 * programs and payloads. All functions are pure; none throws on any bytes, and each takes time and
 * memory in proportion to them.
 */
export { type CovenantEvent, type CovenantEventKind, covenantEvents } from './covenant-events.ts';
export {
  changedPushes,
  disassemble,
  type Disassembly,
  formatInstruction,
  type Instruction,
  instructions,
  type Page,
  type Push,
  pushesOf,
  type ScriptShape,
  shapeOf,
} from './instructions.ts';
export { formatPush, PUSH_TYPES, type PushType, readScriptNumber } from './names/push-values.ts';
export { decodeTemplateEntry, encodeTemplateEntry, type TemplateEntry } from './names/template-entry.ts';
export {
  type NamedPush,
  type NamedTemplate,
  type NameProblem,
  readTemplateNames,
  type RequiredConstant,
  SHIPPED_TEMPLATE_SOURCE,
  stateOf,
  TEMPLATE_NAMES_FILE,
  TemplateNameBook,
  type TemplateNames,
} from './names/template-names.ts';
export { isPush, OPCODE_NAMES, opcodeName } from './opcodes.ts';
export { possibleProgram, SIG_HASH_TYPES } from './possible-program.ts';
export {
  DECODERS_VERSION,
  decodeInscriptions,
  decodePayload,
  decodeProgram,
  type InscribedTransaction,
} from './protocols/decode.ts';
export { type Envelope, readEnvelope } from './protocols/envelope.ts';
export type { Inscription, Operation, Protocol } from './protocols/inscription.ts';
export { MAX_JSON_BYTES, MAX_JSON_DEPTH, type JsonObject, type JsonValue, parseJson } from './protocols/json.ts';
export { poolOf } from './protocols/pools.ts';
export { bareProgram, claimedProgram, isP2sh, revealedProgram } from './reveal.ts';
export { findUnsafe } from './safe-text.ts';
export { ScriptReader } from './script-reader.ts';
export {
  type ByteRange,
  describeProgram,
  kccTemplateHash,
  type ProgramDescription,
  rangeOfPushes,
  templateOf,
} from './template.ts';
export { namesOfUses, type Use, USES, usesOf } from './uses.ts';
