import { createSocket } from 'node:dgram';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { lookUpName } from './names.ts';

const SECOND = 1000;

async function fileWith(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kasgres-names-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const path = join(folder, 'file');
  await writeFile(path, text);
  return path;
}

/** A name server that responds from a list, and not at all for names that it does not have. */
async function startNameServer(addresses: Readonly<Record<string, string>>): Promise<string> {
  const server = createSocket('udp4');
  server.on('message', (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const known = addresses[labels.join('.').toLowerCase()];
    if (known === undefined) return;
    const asked = query.subarray(12, at + 5);
    const isIpv4 = asked.readUInt16BE(asked.length - 4) === 1;
    const records = isIpv4 && known !== 'none' ? 1 : 0;
    // A response without an error, or NXDOMAIN.
    const header = Buffer.from([
      query[0] ?? 0,
      query[1] ?? 0,
      0x81,
      known === 'none' ? 0x83 : 0x80,
      0,
      1,
      0,
      records,
      0,
      0,
      0,
      0,
    ]);
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, ...known.split('.').map(Number)]);
    server.send(Buffer.concat([header, asked, ...(records === 1 ? [record] : [])]), port, address);
  });
  server.bind(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return `127.0.0.1:${server.address().port}`;
}

const never = () => new AbortController().signal;

test('names of the hosts file resolve, without a name server', async () => {
  const hostsFile = await fileWith(
    '127.0.0.1 localhost\n10.0.0.9\thooks.internal other # one\n::1 Hooks.Internal\n#10.0.0.8 off\n',
  );
  const options = { hostsFile, servers: [await startNameServer({})] };
  expect(await lookUpName('hooks.internal', never(), options)).toEqual([
    { address: '10.0.0.9', family: 4 },
    { address: '::1', family: 6 },
  ]);
  expect(await lookUpName('OTHER', never(), options)).toEqual([{ address: '10.0.0.9', family: 4 }]);
  expect(await lookUpName('off', AbortSignal.timeout(50), options)).toEqual([]);
});

test('other names are looked up, also within the domains of the system', async () => {
  const servers = [
    await startNameServer({ 'example.org': '93.184.216.34', short: 'none', 'short.cluster.local': '10.1.1.1' }),
  ];
  const files = {
    hostsFile: await fileWith(''),
    resolverFile: await fileWith('nameserver 10.0.0.1\nsearch cluster.local\n'),
  };
  expect(await lookUpName('example.org', never(), { ...files, servers })).toEqual([
    { address: '93.184.216.34', family: 4 },
  ]);
  expect(await lookUpName('short', never(), { ...files, servers })).toEqual([{ address: '10.1.1.1', family: 4 }]);
  expect(await lookUpName('short.', never(), { ...files, servers })).toEqual([]);
});

test('twenty slow names hold up neither other names nor the look-ups of the system', async () => {
  const options = {
    hostsFile: await fileWith(''),
    servers: [await startNameServer({ 'example.org': '93.184.216.34' })],
  };
  const end = AbortSignal.timeout(SECOND);
  const slow = Array.from({ length: 20 }, (_, index) => lookUpName(`slow${index}.org`, end, options));
  const startedAt = performance.now();
  expect(await lookUpName('example.org', never(), options)).toHaveLength(1);
  await lookup('localhost');
  expect(performance.now() - startedAt).toBeLessThan(SECOND / 2);
  // They end with the signal, which is before the resolver gives up.
  expect(await Promise.all(slow)).toEqual(slow.map(() => []));
  expect(performance.now() - startedAt).toBeLessThan(2 * SECOND);
});
