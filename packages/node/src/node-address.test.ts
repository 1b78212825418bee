import { expect, it } from 'vitest';
import { nameOfNode, parseNodeAddress, parseNodeUrls } from './node-address.ts';

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
  'grpc://user:secret@localhost:16110',
  'user@localhost:16110',
  'grpc://user:12?34@localhost:16110',
  'grpc://user:12#34@localhost:16110',
  'grpc://user:12/34@localhost:16110',
  'grpc://user:12?',
  'grpc://user:12#',
])('%j is refused, and the error has nothing of it', (url) => {
  expect(() => parseNodeAddress(url)).toThrow(new TypeError("the node's address must look like grpc://host:port"));
  expect(() => parseNodeUrls(url)).toThrow(new TypeError('the address must look like grpc://host:port'));
});

it('it parses addresses that are separated by commas', () => {
  expect(parseNodeUrls('grpc://a:16110, b:16210')).toEqual(['grpc://a:16110', 'b:16210']);
  expect(parseNodeUrls('grpc://a:16110')).toEqual(['grpc://a:16110']);
});

it.each([
  ['http://user:secret@a:1', /^the address must look like grpc:\/\/host:port$/],
  ['a:16110,grpc://user:12,34@b:16110', /^of 3 addresses, number 3 must look like grpc:\/\/host:port$/],
  ['grpc://a:16110,secret,grpc://b:16110,', /^of 4 addresses, number 2 and 4 must look like grpc:\/\/host:port$/],
])('%j is refused with every place that is wrong, and nothing of what stands there', (list, message) => {
  expect(() => parseNodeUrls(list)).toThrow(message);
});

it('it names a node by host and port', () => {
  expect(nameOfNode('grpc://node.example.org:16110/')).toBe('node.example.org:16110');
});
