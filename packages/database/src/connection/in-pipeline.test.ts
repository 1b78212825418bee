import { Client, DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import { inPipeline } from './in-pipeline.ts';

function errorWithCode(code: string): DatabaseError {
  return Object.assign(new DatabaseError(code, 0, 'error'), { code });
}

test('it throws the error that caused the others, even if it comes from a nested pipeline and so arrives after them', async () => {
  const client = new Client({ pipeline: true });
  const diskFull = Promise.withResolvers<never>();
  const aborted = Promise.withResolvers<never>();
  const running = inPipeline(client, [() => inPipeline(client, [() => diskFull.promise]), () => aborted.promise]);
  // One packet may have the responses to both statements.
  diskFull.reject(errorWithCode('53100'));
  aborted.reject(errorWithCode('25P02'));
  await expect(running).rejects.toMatchObject({ code: '53100' });
});

test('it throws the only error that there is', async () => {
  const client = new Client({ pipeline: true });
  await expect(inPipeline(client, [() => Promise.reject(errorWithCode('25P02'))])).rejects.toMatchObject({
    code: '25P02',
  });
});
