import { createHmac, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parseRetryAfter } from './attempt.ts';
import { retryPause } from './queue.ts';
import {
  createSecret,
  formatSecret,
  parseSecretKey,
  SecretBox,
  secretBoxOpener,
  SecretKeyError,
  sign,
} from './secrets.ts';
import { checkUrl, parseAllowed, resolveTarget } from './targets.ts';

/** Resolves names to some addresses. */
const resolvesTo =
  (...addresses: string[]) =>
  async () =>
    addresses.map((address) => ({ address, family: address.includes(':') ? (6 as const) : (4 as const) }));

const at = (...addresses: string[]) => resolveTarget('https://example.org/', [], resolvesTo(...addresses));

const messageOf = (url: string, allow: string, ...found: string[]): Promise<string> =>
  resolveTarget(url, allow === '' ? [] : parseAllowed(allow), resolvesTo(...found)).then(
    () => 'reachable',
    (error: Error) => error.message,
  );

describe('targets', () => {
  test.each([
    'https://example.org/',
    'https://example.org:443/hook?x=1',
    'https://example.org:8443',
    'https://1.1.1.1/',
    'https://[2606:4700:4700::1111]/',
  ])('it accepts %s', (url) => {
    expect(checkUrl(url, []).href).toBe(new URL(url).href);
  });

  test.each([
    ['example.org', 'must be a URL'],
    ['http://example.org/', 'must begin with https://'],
    ['file:///etc/passwd', 'must begin with https://'],
    ['https://user@example.org/', 'must not have a user name'],
    ['https://:password@example.org/', 'must not have a user name'],
    ['https://example.org:80/', 'must have port 443'],
    ['https://example.org:22/', 'must have port 443'],
    ['https://example.org/\0', 'must not have control characters'],
    ['https://exam\tple.org/', 'must not have control characters'],
    ['https://example.org/\ud800', 'must not have control characters'],
  ])('it refuses %s: %s', (url, message) => {
    expect(() => checkUrl(url, [])).toThrow(message);
  });

  test.each([
    '127.0.0.1',
    '10.1.2.3',
    '172.16.0.1',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '168.63.129.16',
    '0.0.0.0',
    '224.0.0.1',
    '255.255.255.255',
    '192.0.2.1',
    '198.18.0.1',
    '240.0.0.1',
    '2130706433',
    '0x7f.1',
    '017700000001',
    '[::1]',
    '[::]',
    '[::ffff:10.0.0.1]',
    '[::ffff:a00:1]',
    '[64:ff9b::a9fe:a9fe]',
    '[64:ff9b:1::a00:1]',
    '[2002:a00:1::]',
    '[2001::1]',
    '[2001:db8::1]',
    '[fc00::1]',
    '[fe80::1]',
    '[ff02::1]',
    '[fd00:ec2::254]',
    '[::127.0.0.1]',
  ])('it refuses the address %s', (host) => {
    expect(() => checkUrl(`https://${host}/`, [])).toThrow('is not reachable over the internet');
  });

  test('it refuses a name if any of its addresses is private, and returns the one that was checked otherwise', async () => {
    await expect(at('1.1.1.1', '10.0.0.1')).rejects.toMatchObject({
      reason: expect.stringContaining('10.0.0.1 is not reachable') as string,
    });
    const { addresses } = await at('2606:4700:4700::1111', '1.1.1.1');
    expect(addresses).toEqual([
      { address: '2606:4700:4700::1111', family: 6 },
      { address: '1.1.1.1', family: 4 },
    ]);
  });

  test('the owner of a webhook cannot tell a name that does not exist from one that leads inside', async () => {
    const text = 'the name hooks.internal leads to no address that webhooks may reach';
    for (const found of [[], ['127.0.0.1'], ['10.0.0.1'], ['::ffff:127.0.0.1'], ['1.1.1.1', '169.254.169.254']])
      expect(await messageOf('https://hooks.internal/', '', ...found)).toBe(text);
    // With http, only allowed addresses may be reached.
    for (const found of [[], ['127.0.0.1'], ['10.0.0.1'], ['1.1.1.1']])
      expect(await messageOf('http://hooks.internal/', '192.168.0.0/16', ...found)).toBe(text);
  });

  test('WEBHOOK_ALLOW allows its ranges and http to them, and nothing else', async () => {
    const allowed = parseAllowed('10.0.0.0/8, 127.0.0.1,fd00::/8');
    expect(await resolveTarget('http://hooks.internal:8080/', allowed, resolvesTo('10.9.9.9'))).toMatchObject({
      addresses: [{ address: '10.9.9.9', family: 4 }],
    });
    for (const port of ['22', '25', '443', '1023'])
      expect(() => checkUrl(`http://10.0.0.1:${port}/`, allowed), port).toThrow('must have port 80, or 1024 or above');
    for (const port of ['80', '1024', '8080'])
      expect(checkUrl(`http://10.0.0.1:${port}/`, allowed).hostname, port).toBe('10.0.0.1');
    expect(checkUrl('http://[fd00::1]:8080/', allowed).port).toBe('8080');
    expect(checkUrl('https://[::ffff:10.0.0.1]/', allowed).hostname).toBe('[::ffff:a00:1]');
    for (const [url, found] of [
      ['http://hooks.internal/', '1.1.1.1'],
      ['https://hooks.internal/', '192.168.0.1'],
    ] as const)
      await expect(resolveTarget(url, allowed, resolvesTo(found))).rejects.toThrow('leads to no address');
    expect(() => checkUrl('http://127.0.0.2/', allowed)).toThrow();
    for (const wrong of ['10.0.0.0/40', '10.0.0', '', 'secret', '10.0.0.1/secret', ':secret'])
      expect(() => parseAllowed(wrong), wrong).toThrow(/^(?!.*secret)/);
  });
});

describe('secrets', () => {
  test('the signature is that of Standard Webhooks', () => {
    const secret = createSecret();
    expect(formatSecret(secret)).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const expected = createHmac('sha256', secret).update('msg_1_2.1700000000.{"a":1}').digest('base64');
    expect(sign([secret, secret], 'msg_1_2', 1_700_000_000, '{"a":1}')).toBe(`v1,${expected} v1,${expected}`);
  });

  test('only the key that encrypted a secret decrypts it, and changed bytes are refused', () => {
    const box = new SecretBox(randomBytes(32));
    const secret = createSecret();
    const stored = box.encrypt(secret);
    expect(box.decrypt(stored)).toEqual(secret);
    expect(box.encrypt(secret)).not.toEqual(stored);
    expect(() => new SecretBox(randomBytes(32)).decrypt(stored)).toThrow(SecretKeyError);
    stored[20] = (stored[20] ?? 0) ^ 1;
    expect(() => box.decrypt(stored)).toThrow(SecretKeyError);
    expect(() => box.decrypt(Buffer.alloc(3))).toThrow(SecretKeyError);
  });

  test('a previous secret signs, too, unless its key was lost', () => {
    const [box, lost] = [new SecretBox(randomBytes(32)), new SecretBox(randomBytes(32))];
    const [current, previous] = [randomBytes(32), randomBytes(32)];
    expect(box.decryptSigning(box.encrypt(current), null)).toEqual([current]);
    expect(box.decryptSigning(box.encrypt(current), box.encrypt(previous))).toEqual([current, previous]);
    expect(box.decryptSigning(box.encrypt(current), lost.encrypt(previous))).toEqual([current]);
    expect(() => box.decryptSigning(lost.encrypt(current), null)).toThrow(SecretKeyError);
  });

  test('processes that create the file at once share one key, which only its owner can read', async () => {
    const dataDir = join(await temporaryDirectory(), 'new');
    const open = () => secretBoxOpener({ secretKey: undefined, dataDir })();
    const boxes = await Promise.all(Array.from({ length: 8 }, open));
    const stored = boxes[0]?.encrypt(Buffer.from('secret')) ?? Buffer.alloc(0);
    for (const box of [...boxes, await open()]) expect(box.decrypt(stored).toString()).toBe('secret');
    const path = join(dataDir, 'webhook-secret-key');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(parseSecretKey(await readFile(path, 'utf8'))).toHaveLength(32);
  });

  test('a file without a key is an error that names it', async () => {
    const dataDir = await temporaryDirectory();
    await writeFile(join(dataDir, 'webhook-secret-key'), 'abc\n');
    await expect(secretBoxOpener({ secretKey: undefined, dataDir })()).rejects.toThrow(
      'webhook-secret-key does not have',
    );
    await expect(
      secretBoxOpener({ secretKey: undefined, dataDir: join(dataDir, 'webhook-secret-key', 'below') })(),
    ).rejects.toThrow('set WEBHOOK_SECRET_KEY');
  });

  test.each(['', 'abc', randomBytes(31).toString('base64'), randomBytes(32).toString('hex')])(
    '%j is no key',
    (text) => {
      expect(parseSecretKey(text)).toBeUndefined();
    },
  );
});

test('pauses double up to fifteen minutes, with a fifth of jitter', () => {
  expect([1, 2, 3, 10, 11, 500].map((failures) => retryPause(failures, 0.5))).toEqual([
    1000, 2000, 4000, 512_000, 900_000, 900_000,
  ]);
  expect([retryPause(1, 0), retryPause(1, 1)]).toEqual([800, 1200]);
});

test('retry-after is seconds or a date, at most an hour', () => {
  const now = Date.parse('2026-11-24T12:00:00Z');
  const cases = ['5', '99999', 'Tue, 24 Nov 2026 12:00:30 GMT', 'Tue, 24 Nov 2026 11:00:00 GMT', 'soon', undefined];
  expect(cases.map((text) => parseRetryAfter(text, now))).toEqual([5000, 3_600_000, 30_000, 0, undefined, undefined]);
});

async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'kasgres-webhooks-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  return directory;
}
