/**
 * Streams and WebSockets: many of them, of unlike subscriptions, with the most expensive commands,
 * and anonymous ones.
 */
import type { IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { type Attack, type Attacker, countOf, type Outcomes, type AttackOptions, RETRY_MS } from './attack.ts';

const STREAMS_WITH_CONFIRMATIONS = 1_000;
const WEBSOCKETS = 12;
const MAX_ADDRESSES = 1_000;

/** Opens a stream, and holds it as long as the server lets it. Returns the status. */
export async function holdStream(
  attacker: Attacker,
  path: string,
  headers: Record<string, string>,
  body?: string,
): Promise<number> {
  const sending = attacker.begin(false, path, headers, body);
  const closed = once(sending, 'close');
  sending.on('error', () => undefined);
  try {
    const [response] = (await Promise.race([
      once(sending, 'response'),
      Promise.all([closed, attacker.untilOver]).then(() => [undefined]),
    ])) as [IncomingMessage | undefined];
    if (response === undefined) throw new Error('the connection was closed without a response');
    response.resume();
    response.on('error', () => undefined);
    await Promise.race([closed, attacker.untilOver]);
    return response.statusCode ?? 0;
  } finally {
    sending.destroy();
  }
}

/** Each stream with another number of confirmations, which the steps of the others do not have. */
async function openWithConfirmations(attacker: Attacker): Promise<void> {
  const { addresses } = attacker.options;
  await attacker.repeat(
    STREAMS_WITH_CONFIRMATIONS,
    async (index) => {
      const query = Array.from({ length: 20 }, (_, at) => `address=${addresses[(index + at) % addresses.length]}`);
      const path = `/v1/stream?events=chain&confirmations=${index + 1}&${query.join('&')}`;
      return await holdStream(attacker, path, { 'x-api-key': attacker.key });
    },
    RETRY_MS,
  );
}

/** Each stream is of another client, of which there are more than places. */
async function takeAllPlaces(attacker: Attacker): Promise<void> {
  await attacker.repeat(
    attacker.options.streamConnections,
    async (index) => {
      const address = `198.51.${index >> 8}.${index & 255}`;
      return await holdStream(attacker, '/v1/stream?events=chain,block,mempool', { 'x-forwarded-for': address });
    },
    RETRY_MS,
  );
}

/** Streams that begin at the first block of the index. */
async function readThePast(attacker: Attacker): Promise<void> {
  const { firstBlock, addresses } = attacker.options;
  const query = addresses.slice(0, 100).map((address) => `address=${address}`);
  await attacker.repeat(
    30,
    async () => {
      const path = `/v1/stream?events=chain&include=accepted_ids&from=${firstBlock}&${query.join('&')}`;
      return await holdStream(attacker, path, { 'x-api-key': attacker.key });
    },
    RETRY_MS,
  );
}

/**
 * Repeats the largest subscription and its end as fast as the server responds. The outcomes are
 * responses to commands.
 */
export async function repeatCommands(
  attacker: Attacker,
  events: readonly string[],
  watched: Record<string, readonly string[]>,
): Promise<void> {
  const begin = JSON.stringify({ subscribe: { events, ...watched, confirmations: 10 } }).slice(1);
  const end = JSON.stringify({ unsubscribe: watched }).slice(1);
  await attacker.repeat(
    WEBSOCKETS,
    async () => {
      const socket = new WebSocket(`${attacker.options.url.replace('http', 'ws')}/v1/ws`, {
        headers: { 'x-api-key': attacker.key },
      });
      let sent = 0;
      const send = (): void => {
        sent += 1;
        socket.send(`{"id":${sent},${sent % 2 === 0 ? end : begin}`);
      };
      socket.on('message', (data: Buffer) => {
        const head = data.toString('latin1', 0, 200);
        const [, event] = /^\{"event":"(subscribed|error)"/.exec(head) ?? [];
        if (event === undefined) return;
        attacker.count(event === 'subscribed' ? 200 : Number(/"statusCode":(\d+)/.exec(data.toString())?.[1] ?? 400));
        if (socket.readyState === WebSocket.OPEN) send();
      });
      socket.on('open', () => {
        for (let count = 0; count < 4; count += 1) send();
      });
      const closed = new Promise<void>((resolve) => {
        socket.on('error', () => resolve());
        socket.on('close', () => resolve());
      });
      await Promise.race([closed, attacker.untilOver]);
      socket.terminate();
      return sent === 0 ? 'refused' : 'connections';
    },
    RETRY_MS,
  );
}

/** Clients without a key may have half of the places. */
const exceedsShare = (outcomes: Outcomes, { streamConnections }: AttackOptions): string | undefined =>
  countOf(outcomes, 5) === 0 ? `all of ${streamConnections} streams without a key were opened` : undefined;

export const STREAMS: readonly Attack[] = [
  { name: 'streams with unlike confirmations', keys: 1, run: openWithConfirmations },
  { name: 'streams without a key', run: takeAllPlaces, findFault: exceedsShare },
  { name: 'streams from the first block', keys: 1, run: readThePast },
  {
    name: 'WebSocket commands',
    keys: 1,
    run: (attacker) =>
      repeatCommands(attacker, ['chain'], { addresses: attacker.options.addresses.slice(0, MAX_ADDRESSES) }),
  },
];
