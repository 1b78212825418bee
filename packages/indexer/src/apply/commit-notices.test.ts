import { createLogger } from '@kasgres/runtime';
import { expect, test, vi } from 'vitest';
import { CommitNotices } from './commit-notices.ts';

function setUp() {
  const log = createLogger({ name: 'indexer', level: 'silent' });
  const warn = vi.spyOn(log, 'warn');
  const pending: PromiseWithResolvers<void>[] = [];
  const query = vi.fn<() => Promise<void>>(() => {
    const sent = Promise.withResolvers<void>();
    pending.push(sent);
    return sent.promise;
  });
  return { notices: new CommitNotices({ query } as never, log), warn, query, pending };
}

test('it notifies of each commit, and once for all commits during a notification', async () => {
  const { notices, query, pending } = setUp();
  notices.send();
  expect(query).toHaveBeenCalledTimes(1);
  notices.send();
  notices.send();
  expect(query).toHaveBeenCalledTimes(1);
  pending[0]?.resolve();
  await vi.waitFor(() => expect(query).toHaveBeenCalledTimes(2));
  pending[1]?.resolve();
  await new Promise(setImmediate);
  expect(query).toHaveBeenCalledTimes(2);
});

test('it survives notifications that fail, and says so once a minute', async () => {
  const { notices, query, warn, pending } = setUp();
  for (let sent = 1; sent <= 3; sent += 1) {
    notices.send();
    expect(query).toHaveBeenCalledTimes(sent);
    pending[sent - 1]?.reject(new Error('too many notifications in the NOTIFY queue'));
    await new Promise(setImmediate);
  }
  expect(warn).toHaveBeenCalledTimes(1);
});
