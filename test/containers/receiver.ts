/** A receiver of webhooks as one more service, whose log has the deliveries. */
import { createHmac } from 'node:crypto';
import { expect } from 'vitest';
import { compose, request } from './operator.ts';

const PROGRAM = `
require('http').createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  console.log(JSON.stringify({ headers: request.headers, body }));
  response.end();
}).listen(8080)`;

export const RECEIVER_SERVICE = `services:
  receiver:
    image: kasgres
    pull_policy: never
    entrypoint: ["node", "-e", ${JSON.stringify(PROGRAM)}]
    networks: [front]
`;

export interface Hook {
  secret: string;
}

interface Delivery {
  headers: Record<string, string>;
  body: string;
}

export async function createHook(key: string): Promise<Hook> {
  const body = JSON.stringify({ url: 'http://receiver:8080/hook' });
  const response = await request('/v1/webhooks', key, { method: 'POST', body });
  const text = await response.text();
  expect(response.ok, text).toBe(true);
  return JSON.parse(text) as Hook;
}

/** Waits for a step that is delivered from now on and signed with the secret of the webhook. */
export async function untilDelivered(hook: Hook): Promise<void> {
  const since = new Date().toISOString();
  await expect
    .poll(async () => {
      const deliveries = await readDeliveries(since);
      return deliveries.some((delivery) => isSigned(delivery, hook) && delivery.body.includes('"kasgres.step"'));
    })
    .toBe(true);
}

async function readDeliveries(since: string): Promise<Delivery[]> {
  const log = await compose(`logs --no-log-prefix --no-color --since ${since} receiver`);
  return log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Delivery);
}

function isSigned({ headers, body }: Delivery, { secret }: Hook): boolean {
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  return headers['webhook-signature'] === `v1,${createHmac('sha256', key).update(signed).digest('base64')}`;
}
