/**
 * The three standard forms of a script public key and their addresses (rusty-kaspa,
 * crypto/txscript/src/script_class.rs). Any other script, and any script of another version, is
 * non-standard and has no address.
 */
import {
  ADDRESS_VERSION,
  type AddressPrefix,
  type AddressVersion,
  decodeAddress,
  encodeAddress,
  PAYLOAD_BYTES,
} from './address.ts';
import type { ScriptPublicKey } from './model.ts';

/** The node's own names. */
export type ScriptType = 'pubkey' | 'pubkeyecdsa' | 'scripthash' | 'nonstandard';

const OP_DATA_32 = 0x20;
const OP_DATA_33 = 0x21;
const OP_EQUAL = 0x87;
const OP_BLAKE2B = 0xaa;
const OP_CHECK_SIG_ECDSA = 0xab;
const OP_CHECK_SIG = 0xac;

/** The only version of standard scripts. */
const SCRIPT_VERSION = 0;

/** A standard script: opcodes, the payload of its address, one more opcode. */
interface StandardForm {
  type: ScriptType;
  addressVersion: AddressVersion;
  before: readonly number[];
  after: number;
}

const { pubKey, scriptHash, pubKeyEcdsa } = ADDRESS_VERSION;
const STANDARD_FORMS: readonly StandardForm[] = [
  { type: 'pubkey', addressVersion: pubKey, before: [OP_DATA_32], after: OP_CHECK_SIG },
  { type: 'scripthash', addressVersion: scriptHash, before: [OP_BLAKE2B, OP_DATA_32], after: OP_EQUAL },
  { type: 'pubkeyecdsa', addressVersion: pubKeyEcdsa, before: [OP_DATA_33], after: OP_CHECK_SIG_ECDSA },
];

export function classifyScript(scriptPublicKey: ScriptPublicKey): ScriptType {
  return findForm(scriptPublicKey)?.type ?? 'nonstandard';
}

/** Returns the address of a script; undefined if it is non-standard. */
export function scriptToAddress(scriptPublicKey: ScriptPublicKey, prefix: AddressPrefix): string | undefined {
  const form = findForm(scriptPublicKey);
  if (form === undefined) return undefined;
  const payload = scriptPublicKey.script.subarray(form.before.length, -1);
  return encodeAddress({ prefix, version: form.addressVersion, payload });
}

/**
 * Returns the script that pays to an address of any network.
 * @throws AddressError
 */
export function addressToScript(text: string): ScriptPublicKey {
  const { version, payload } = decodeAddress(text);
  const form = STANDARD_FORMS.find(({ addressVersion }) => addressVersion === version);
  if (form === undefined) throw new Error(`No script is known for address version ${version}`);
  return { version: SCRIPT_VERSION, script: Uint8Array.of(...form.before, ...payload, form.after) };
}

function findForm({ version, script }: ScriptPublicKey): StandardForm | undefined {
  if (version !== SCRIPT_VERSION) return undefined;
  return STANDARD_FORMS.find(
    ({ addressVersion, before, after }) =>
      script.length === before.length + PAYLOAD_BYTES[addressVersion] + 1 &&
      script.at(-1) === after &&
      before.every((opcode, index) => script[index] === opcode),
  );
}
