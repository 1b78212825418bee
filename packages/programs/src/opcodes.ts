/**
 * The opcodes of Kaspa's script engine with the node's names (kaspa-txscript 2.1.0,
 * src/opcodes/mod.rs). Every byte is an opcode; the engine rejects those that are reserved,
 * disabled or unknown when it executes them, and they parse nevertheless.
 */

export const OP_FALSE = 0x00;
/** The last opcode that is the length of its data. */
export const OP_DATA_75 = 0x4b;
export const OP_PUSH_DATA_1 = 0x4c;
export const OP_PUSH_DATA_2 = 0x4d;
export const OP_PUSH_DATA_4 = 0x4e;
export const OP_1_NEGATE = 0x4f;
/**
 * It pushes nothing and fails, but the engine counts it among the opcodes that a signature script
 * may consist of.
 */
const OP_RESERVED = 0x50;
export const OP_TRUE = 0x51;
export const OP_16 = 0x60;
export const OP_IF = 0x63;
export const OP_END_IF = 0x68;
export const OP_EQUAL = 0x87;
export const OP_ZK_PRECOMPILE = 0xa6;
export const OP_CHECK_MULTI_SIG_ECDSA = 0xa9;
export const OP_BLAKE2B = 0xaa;
export const OP_CHECK_SIG_ECDSA = 0xab;
export const OP_CHECK_SIG = 0xac;
export const OP_CHECK_MULTI_SIG = 0xae;

/** From `OpPushData1` on. */
const NAMES_FROM_PUSH_DATA_1 = `
  PushData1 PushData2 PushData4 1Negate Reserved True 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
  Nop Ver If NotIf VerIf VerNotIf Else EndIf Verify Return ToAltStack FromAltStack 2Drop 2Dup 3Dup 2Over 2Rot 2Swap
  IfDup Depth Drop Dup Nip Over Pick Roll Rot Swap Tuck Cat Substr Left Right Size Invert And Or Xor Equal EqualVerify
  Reserved1 Reserved2 1Add 1Sub 2Mul 2Div Negate Abs Not 0NotEqual Add Sub Mul Div Mod LShift RShift BoolAnd BoolOr
  NumEqual NumEqualVerify NumNotEqual LessThan GreaterThan LessThanOrEqual GreaterThanOrEqual Min Max Within
  ZkPrecompile Blake2bWithKey SHA256 CheckMultiSigECDSA Blake2b CheckSigECDSA CheckSig CheckSigVerify CheckMultiSig
  CheckMultiSigVerify CheckLockTimeVerify CheckSequenceVerify
  TxVersion TxInputCount TxOutputCount TxLockTime TxSubnetId TxGas TxPayloadSubstr TxInputIndex OutpointTxId
  OutpointIndex TxInputScriptSigSubstr TxInputSeq TxInputAmount TxInputSpk TxInputDaaScore TxInputIsCoinbase
  TxOutputAmount TxOutputSpk TxPayloadLen TxInputSpkLen TxInputSpkSubstr TxOutputSpkLen TxOutputSpkSubstr
  TxInputScriptSigLen Unknown202 AuthOutputCount AuthOutputIdx Num2Bin Bin2Num InputCovenantId CovInputCount CovInputIdx
  CovOutputCount CovOutputIdx ChainblockSeqCommit OutputCovenantId OutputAuthorizingInput CheckSigFromStack
  CheckSigFromStackECDSA Blake3 Blake3WithKey`;

function nameOpcodes(): string[] {
  const names = ['OpFalse'];
  for (let length = 1; length <= OP_DATA_75; length++) names.push(`OpData${length}`);
  for (const name of NAMES_FROM_PUSH_DATA_1.trim().split(/\s+/)) names.push(`Op${name}`);
  while (names.length < 0xfa) names.push(`OpUnknown${names.length}`);
  return [...names, 'OpSmallInteger', 'OpPubKeys', 'OpUnknown252', 'OpPubKeyHash', 'OpPubKey', 'OpInvalidOpCode'];
}

/** The node's names by opcode. */
export const OPCODE_NAMES: readonly string[] = nameOpcodes();

export function opcodeName(opcode: number): string {
  return OPCODE_NAMES[opcode] ?? `OpUnknown${opcode}`;
}

/**
 * Returns whether an opcode pushes a value that is part of the script, which a template leaves out.
 */
export function isPush(opcode: number): boolean {
  return opcode <= OP_16 && opcode !== OP_RESERVED;
}
