import Fastify from 'fastify';
import { expect, it } from 'vitest';
import { compressResponses } from './compression.ts';

it.each([
  ['without compression', '/text', {}, '5000'],
  ['with compression', '/text', { 'accept-encoding': 'gzip' }, undefined],
  ['of an encoded response', '/encoded', { 'accept-encoding': 'gzip' }, '5000'],
  ['of a 304', '/unchanged', {}, undefined],
])('gives a HEAD %s no length but that of the GET', async (_name, url, headers, expected) => {
  const app = Fastify();
  await compressResponses(app);
  app.get('/text', async () => 'a'.repeat(5000));
  app.get('/encoded', async (_request, reply) => reply.header('content-encoding', 'gzip').send('a'.repeat(5000)));
  app.get('/unchanged', async (_request, reply) => reply.code(304).send());
  const { headers: got } = await app.inject({ method: 'HEAD', url, headers });
  expect(got['content-length']).toBe(expected);
});
