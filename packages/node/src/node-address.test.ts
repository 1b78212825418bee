import { expect, it } from 'vitest';
import { parseNodeAddress } from './node-address.ts';

it.each([
  ['grpc://127.0.0.1:16110', '127.0.0.1', 16110],
  ['node.example.org:16210', 'node.example.org', 16210],
  ['grpc://[::1]:16110/', '[::1]', 16110],
])('%s is understood', (url, host, port) => {
  expect(parseNodeAddress(url)).toEqual({ host, port });
});

it.each([
  '',
  'localhost',
  'http://localhost:16110',
  'grpc://:16110',
  'grpc://localhost:16110/path',
  'grpc://localhost:99999',
])('%j is refused with words', (url) => {
  expect(() => parseNodeAddress(url)).toThrow(
    new TypeError(`the node's address must look like grpc://host:port, not ${JSON.stringify(url)}`),
  );
});
