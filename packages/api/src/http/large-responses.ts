/**
 * Serializes responses with many items in slices (EventLoopTurns of packages/reads): JSON.stringify
 * of megabytes would block the event loop.
 */
import { type EventLoopTurns, Slices } from '@kasgres/reads';
import type { FastifyInstance } from 'fastify';
import { stringifyExact } from './exact-integers.ts';
import { callerOf } from './request-identity.ts';

/** The size of the largest page. */
const MANY_ITEMS = 100;

export function serializeLargeResponses(app: FastifyInstance, turns: EventLoopTurns): void {
  // Fastify sends a Buffer unchanged, although the type of serializers allows strings only.
  app.setReplySerializer((payload) =>
    Buffer.isBuffer(payload) ? (payload as unknown as string) : stringifyExact(payload),
  );
  app.addHook('preSerialization', (request, _reply, payload, done) => {
    if (hasManyItems(payload)) return toJson(payload, new Slices(turns, callerOf(request)));
    done(null, payload);
    return undefined;
  });
}

function hasManyItems(payload: unknown): payload is object {
  if (typeof payload !== 'object' || payload === null) return false;
  for (const value of Object.values(payload)) if (Array.isArray(value) && value.length > MANY_ITEMS) return true;
  return false;
}

/**
 * Text is encoded in pieces of about this many characters, since encoding item by item takes longer
 * than making the text.
 */
const PIECE_LENGTH = 2 ** 16;

/**
 * Gives the result of JSON.stringify. The items of arrays directly in the object are serialized one
 * by one, all else at once.
 */
async function toJson(payload: object, slices: Slices): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let text = '';
  const write = (more: string): void => {
    text += more;
    if (text.length < PIECE_LENGTH) return;
    pieces.push(Buffer.from(text));
    text = '';
  };
  let separator = '{';
  for (const [name, value] of Object.entries(payload)) {
    if (value === undefined) continue;
    write(`${separator}${JSON.stringify(name)}:`);
    separator = ',';
    if (Array.isArray(value) && value.length > 0) {
      let before = '[';
      await slices.forEach(value as unknown[], (item) => {
        write(`${before}${stringifyExact(item)}`);
        before = ',';
      });
      write(']');
    } else {
      write(stringifyExact(value));
    }
  }
  return Buffer.concat([...pieces, Buffer.from(`${text}}`)]);
}
