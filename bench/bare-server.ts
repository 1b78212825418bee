/**
 * The lower bounds for the API in read.ts: Fastify without keys, headers and limits, with one
 * prepared look-up of a transaction id, and with a response that needs no work. Prints its URL when
 * it is ready, and exits when its standard input ends.
 */
import { connect } from '@kasgres/database';
import Fastify from 'fastify';

const TEXT = `select id::text, fee::text, version from transactions
  where encode(transaction_id, 'hex') = encode($1, 'hex')`;

const { pool } = connect({ url: process.argv[2] ?? '', applicationName: 'kasgres bench', max: 10 });
const app = Fastify();
app.get('/', async () => ({ network: 'simnet' }));
app.get<{ Params: { id: string } }>('/:id', async ({ params }) => {
  const { rows } = await pool.query({ name: 'look-up', text: TEXT, values: [Buffer.from(params.id, 'hex')] });
  return rows[0];
});
console.log(JSON.stringify({ url: await app.listen({ host: '127.0.0.1', port: 0 }) }));
process.stdin.resume().once('end', () => process.exit());
