/** The functions that the explorer uses; they need nothing of Node. */
export { hexOf } from './hex.ts';
export {
  changedPushes,
  disassemble,
  type Disassembly,
  formatInstruction,
  type Instruction,
  instructions,
  type Push,
  pushesOf,
  shapeOf,
} from './instructions.ts';
export { formatPush, PUSH_TYPES, type PushType } from './names/push-values.ts';
export { usesOf } from './uses.ts';
