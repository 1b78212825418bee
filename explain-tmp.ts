import { createMetrics, createServer, createServices, MemoryWindows, openDatabase } from '@kasgres/api';
import { createKey } from '@kasgres/database';
import { createLogger, createRegistry } from '@kasgres/runtime';
const [, , method, url, body] = process.argv;
const db = openDatabase({ url: process.env['DATABASE_URL'] ?? '', max: 2, onIdleError: () => undefined });
const seen: any[] = [];
db.pool.on('connect', (client: any) => { const send = client.query.bind(client); client.query = (f: any, ...r: any[]) => { if (f?.name) seen.push({ ...f, values: f.values ?? r[0] }); return send(f, ...r); }; });
const logger = createLogger({ name: 'x', level: 'silent' });
const services = createServices({ database: db.kysely, unknownKeysDatabase: db.kysely, readDatabase: db, readConnections: 2, statusDatabase: db, node: { connected: false, call: () => Promise.reject(new Error('no')) } as any, windows: new MemoryWindows(), logger });
const server = await createServer({ services, logger, metrics: createMetrics(createRegistry('x')) });
const { key } = await createKey(db.kysely, { name: `x ${Date.now()}`, rateRu: 1e9 });
for (let i = 0; i < 2; i++) { const r = await server.inject({ method: method as any, url: url as string, headers: { 'x-api-key': key }, ...(body && { payload: JSON.parse(body) }) }); console.log(r.statusCode, r.body.slice(0, 300), r.body.length); }
const q = seen.at(-1);
const c = await db.pool.connect();
await c.query(`prepare x as ${q.text}`);
const lit = (v: any): string => v === null || v === undefined ? 'null' : v instanceof Uint8Array ? `'\\x${Buffer.from(v).toString('hex')}'` : Array.isArray(v) ? `array[${v.map(lit).join(',')}]` : `'${v}'`;
for (let i = 0; i < 3; i++) { const r = await c.query(`explain (analyze, buffers ${process.env['COSTS'] ? '' : ', costs off'}${process.env['TIMING'] ? '' : ', timing off'}) execute x(${q.values.map((v: any) => lit(typeof v === 'bigint' ? String(v) : v)).join(',')})`); if (i === 2) console.log(r.rows.map((x: any) => x['QUERY PLAN']).join('\n')); }
c.release(); process.exit(0);
