/** `include=programs`: what the transactions of a response are used for, read from their bytes. */
import { blake2b256, fromHex, type ScriptPublicKey, toHex } from '@kasgres/kaspa';
import { bareProgram, decodeInscriptions, MAX_JSON_BYTES, revealedProgram, templateOf } from '@kasgres/programs';
import { includeInput, Slices } from '@kasgres/reads';
import { callerOf } from '../../../http/request-identity.ts';
import type { TagOf } from '../../../http/respond.ts';
import type { Responding } from '../../../openapi/route.ts';
import { toBody, toJson } from '../../inscriptions/body.ts';
import type { RestInputJson, RestTransactionJson } from './schemas.ts';

/** The parts that a client asks for. */
export const includeParts = includeInput('tags', 'programs').meta({
  description:
    '`tags` adds the tags of all addresses in the response, `programs` what programs, covenants and protocols the transactions use; or both, with a comma',
});

type Include = ReadonlySet<string> | undefined;

/** How a statement differs with the parts. */
export interface Parts {
  includePayload: boolean;
  withTags: boolean;
  withPrograms: boolean;
}

export const partsOf = (includePayload: boolean, include: Include): Parts => {
  const withPrograms = include?.has('programs') === true;
  // The payload is decoded, and left out of the response unless it is asked for.
  return { includePayload: includePayload || withPrograms, withTags: include?.has('tags') === true, withPrograms };
};

/** Imports and clustering change the tags of addresses without a change of the chain. */
export const tagOfParts = (include: Include): TagOf => (include?.has('tags') === true ? 'content' : 'state');

/** As selected, with what is left out of the response. */
export type SelectedInput = RestInputJson & { spentScriptVersion?: number | null };

/** The fields that are read and completed. */
type Described = Pick<RestTransactionJson, 'inputs' | 'payload' | 'protocols' | 'decodedPayload'>;

interface Transactions {
  transactions?: Described[];
  transaction?: Described;
}

/** Completes the transactions of a response. */
export async function describeAll<Body extends Transactions>(
  body: Body,
  slices: Slices,
  includePayload: boolean,
): Promise<Body> {
  const all = body.transactions ?? (body.transaction === undefined ? [] : [body.transaction]);
  await slices.forEach(all, (transaction) => describe(transaction, includePayload));
  return body;
}

/** Returns what completes a response, or undefined if that is not asked for. */
export const addPrograms = (
  include: Include,
  includePayload: boolean,
): (<Body extends Transactions>(body: Body, responding: Responding) => Promise<Body>) | undefined =>
  include?.has('programs') === true
    ? (body, { services, request }) => describeAll(body, new Slices(services.turns, callerOf(request)), includePayload)
    : undefined;

/** The script that an input spends, if it is known. */
function spentScript({ previousOutput, spentScriptVersion }: SelectedInput): ScriptPublicKey | undefined {
  const { scriptPublicKey } = previousOutput;
  return scriptPublicKey === null ? undefined : { version: spentScriptVersion ?? 0, script: fromHex(scriptPublicKey) };
}

function describe(transaction: Described, includePayload: boolean): void {
  const isCoinbase = transaction.inputs.length === 0;
  const scripts: (ScriptPublicKey | undefined)[] = [];
  const programs: (Uint8Array | undefined)[] = [];
  for (const input of transaction.inputs as SelectedInput[]) {
    const script = spentScript(input);
    // The variant that is shown need not be the accepted one, so that its program may have another
    // hash.
    const revealed = script && revealedProgram(script, fromHex(input.signatureScript));
    scripts.push(script);
    programs.push(revealed);
    input.program = toProgram(revealed ?? (script && bareProgram(script)));
    delete input.spentScriptVersion;
  }
  const payload = fromHex((transaction.payload ?? '').slice(2));
  const inscriptions = decodeInscriptions({ payload, programs, sender: scripts[0] });
  transaction.protocols = inscriptions.map(({ protocol, source, isDecodable, operation, tick, body }) => ({
    protocol,
    source,
    operation: isDecodable ? (operation ?? null) : 'undecodable',
    tick: tick ?? null,
    body: toBody(body),
  }));
  transaction.decodedPayload = isCoinbase ? null : decode(payload);
  if (!includePayload) delete transaction.payload;
}

function toProgram(program: Uint8Array | undefined): RestInputJson['program'] {
  if (program === undefined) return null;
  const template = templateOf(program);
  return { hash: toHex(blake2b256(program)), template: template === undefined ? null : toHex(template) };
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(payload: Uint8Array): RestTransactionJson['decodedPayload'] {
  if (payload.length === 0 || payload.length > MAX_JSON_BYTES) return null;
  try {
    const text = decoder.decode(payload);
    return { text, json: toJson(payload) ?? null };
  } catch {
    // Not a text.
    return null;
  }
}
