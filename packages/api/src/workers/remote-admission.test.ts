import { createLogger } from '@kasgres/runtime';
import { expect, it, vi } from 'vitest';
import { HttpError, unavailable } from '../http/errors.ts';
import type { Admitted, LocalAdmission, RequestKey } from '../limits/admission.ts';
import type { CachedKey } from '../limits/key-cache.ts';
import { AdmissionHost } from './admission-host.ts';
import type { Call, Reply } from './messages.ts';
import { RemoteAdmission } from './remote-admission.ts';

const KEY = `kdp_${'a'.repeat(64)}`;
const bucket = { name: 'key:7', apiKeyId: 7n, rateRu: 5, windowSeconds: 60, concurrency: 2, quota: undefined };
const apiKey = { id: 7n, readOnly: true, bucket } as CachedKey;
const seen: RequestKey & { isBusy: boolean } = {
  id: 7n,
  readOnly: true,
  isBusy: false,
  bucket: { name: 'key:7', rateRu: 5, windowSeconds: 60 },
};
const verdict = {
  remainingRu: 4.9,
  resetSeconds: 60,
  charge: { ru: 0.1, window: 12.000000000000002, day: '2026-01-30' },
};

function connectTo(given: Partial<LocalAdmission>) {
  const release = vi.fn();
  const admission = {
    admit: async () => ({ apiKey, verdict }),
    isBusy: () => false,
    release,
    ...given,
  } as unknown as LocalAdmission;
  const messages: unknown[] = [];
  const asJson = <T>(value: T): T => {
    messages.push(value);
    return JSON.parse(JSON.stringify(value)) as T;
  };
  const logger = createLogger({ name: 'test', level: 'silent' });
  const host = new AdmissionHost(admission, (replies: Reply[]) => remote.receive(asJson(replies)), logger);
  const remote: RemoteAdmission = new RemoteAdmission((calls: Call[]) => host.receive(asJson(calls)));
  return { host, remote, release, messages };
}

it('returns what the primary process decides, in one message for calls of one turn', async () => {
  const { remote, release, messages } = connectTo({});
  const admitted = await Promise.all([remote.admit(KEY, 0.1), remote.admit(KEY, 0.1)]);
  expect(admitted).toEqual([
    { apiKey: seen, verdict },
    { apiKey: seen, verdict },
  ]);
  expect(messages).toHaveLength(2);
  remote.release(seen);
  await expect.poll(() => release).toHaveBeenCalledExactlyOnceWith(apiKey);
});

it('asks the primary process whether a key is in force', async () => {
  const isInForce = vi.fn(async (key: string) => key === KEY);
  const { remote } = connectTo({ isInForce });
  expect(await Promise.all([remote.isInForce(KEY), remote.isInForce(`${KEY}0`)])).toEqual([true, false]);
  const { remote: failing } = connectTo({ isInForce: () => Promise.reject(unavailable('no database', 1)) });
  await expect(failing.isInForce(KEY)).rejects.toThrow('no database');
});

it('collects calls while another one is running, and sends releases with them', async () => {
  const first = Promise.withResolvers<Admitted<CachedKey>>();
  const results = [first.promise];
  const admit = async () => results.shift() ?? { apiKey, verdict };
  const { remote, release, messages } = connectTo({ admit });
  const admitted = [remote.admit(KEY, 0.1)];
  await new Promise((resolve) => setImmediate(resolve));
  expect(messages).toHaveLength(1);
  remote.release(seen);
  admitted.push(remote.admit(KEY, 0.1), remote.admit(KEY, 0.1));
  first.resolve({ apiKey, verdict });
  await Promise.all(admitted);
  expect(messages[2]).toMatchObject([{ do: 'release' }, { do: 'admit' }, { do: 'admit' }]);
  expect(messages).toHaveLength(4);
  // A release alone is not forgotten.
  remote.release(seen);
  await expect.poll(() => messages).toHaveLength(5);
  expect(release).not.toHaveBeenCalledTimes(0);
});

it('does not wait for a slow call', async () => {
  const never = Promise.withResolvers<Admitted<CachedKey>>();
  const results = [never.promise];
  const { remote } = connectTo({ admit: async () => results.shift() ?? { apiKey, verdict } });
  void remote.admit(KEY, 0.1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(await remote.admit(KEY, 0.1)).toMatchObject({ verdict });
});

it('charges more for a request in flight', async () => {
  const refused = { refusal: 'rate_limit', remainingRu: 1, resetSeconds: 5 } as const;
  const chargeMore = vi.fn(async () => refused);
  const { remote } = connectTo({ chargeMore });
  await remote.admit(KEY, 0.1);
  expect(await remote.chargeMore(seen, verdict.charge, 2)).toEqual(refused);
  expect(chargeMore).toHaveBeenCalledExactlyOnceWith(apiKey, verdict.charge, 2);
});

it('refuses invalid keys, and texts that are no keys without a call', async () => {
  const { remote, messages } = connectTo({ admit: async () => undefined });
  expect(await remote.admit('wrong', 0.1)).toBeUndefined();
  expect(messages).toEqual([]);
  expect(await remote.admit(KEY, 0.1)).toBeUndefined();
});

it('passes on errors with their status, and with the key if it is known', async () => {
  const error = unavailable('The shared rate limits are out of reach', 1);
  const known = connectTo({ admit: async () => ({ apiKey, error }) });
  const admitted = (await known.remote.admit(KEY, 0.1)) as Admitted & { error: HttpError };
  expect(admitted.apiKey).toEqual(seen);
  expect(admitted.error).toBeInstanceOf(HttpError);
  expect(admitted.error).toMatchObject({ statusCode: 503, message: error.message, retryAfterSeconds: 1 });
  const unknown = connectTo({ admit: () => Promise.reject(error) });
  await expect(unknown.remote.admit(KEY, 0.1)).rejects.toMatchObject({ statusCode: 503 });
  const bug = connectTo({ admit: () => Promise.reject(new TypeError('a bug')) });
  await expect(bug.remote.admit(KEY, 0.1)).rejects.not.toBeInstanceOf(HttpError);
});

it('releases what a worker had in flight when it ended, also what is admitted afterwards', async () => {
  const late = Promise.withResolvers<Admitted<CachedKey>>();
  const results = [Promise.resolve({ apiKey, verdict }), Promise.resolve({ apiKey, verdict }), late.promise];
  const { host, remote, release } = connectTo({ admit: () => results.shift() });
  await remote.admit(KEY, 0.1);
  await remote.admit(KEY, 0.1);
  const last = remote.admit(KEY, 0.1);
  await new Promise((resolve) => setImmediate(resolve));
  host.close();
  expect(release).toHaveBeenCalledTimes(2);
  late.resolve({ apiKey, verdict });
  await last;
  expect(release).toHaveBeenCalledTimes(3);
});
