/**
 * The description of a block, transaction, covenant, address or name in the document of its page,
 * before any script runs: its title, and `og:` tags for those who share the link. The data comes
 * from the API itself, by look-ups that are charged to the address of the visitor. Where they are
 * refused or fail, the document is served without it.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';

export interface PageData {
  title: string;
  description: string;
}

/** The page shows nothing that exists. */
export const MISSING = 'missing';

type Body = Record<string, unknown>;
type Fetch = (path: string) => Promise<{ status: number; body: Body }>;
type Found = PageData | typeof MISSING | undefined;

/** Returns what a page shows, MISSING, or undefined if that is unknown now. */
export type PageReader = (request: FastifyRequest) => Promise<Found>;

const SOMPI_PER_KAS = 100_000_000n;

const kas = (sompi: unknown): string => {
  const value = BigInt(String(sompi));
  const fraction = (value % SOMPI_PER_KAS).toString().padStart(8, '0').replace(/0+$/, '');
  return `${(value / SOMPI_PER_KAS).toLocaleString('en')}${fraction === '' ? '' : `.${fraction}`} KAS`;
};

const short = (id: string): string => `${id.slice(0, id.indexOf(':') + 9)}…${id.slice(-6)}`;

const utc = (ms: unknown): string => `${new Date(Number(ms)).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

const number = (value: unknown): string => BigInt(String(value)).toLocaleString('en');

const plural = (count: unknown, noun: string): string => `${number(count)} ${noun}${Number(count) === 1 ? '' : 's'}`;

/** A 400 is an id or an address that cannot exist on this network. */
const withoutData = (status: number): Found => (status === 404 || status === 400 ? MISSING : undefined);

async function readBlock(fetch: Fetch, hash: string): Promise<Found> {
  const { status, body } = await fetch(`/v1/blocks/${hash}?include_transactions=false`);
  if (status !== 200) return withoutData(status);
  const block = body['block'] as Body;
  const color =
    block['isChainBlock'] === true
      ? 'chain block'
      : `${typeof block['color'] === 'string' ? block['color'] : 'not merged'} block`;
  const { blueScore, transactionCount, timestamp } = block;
  return {
    title: `Block ${short(String(block['hash']))}`,
    description: `${color}, blue score ${number(blueScore)}, ${plural(transactionCount, 'transaction')}, ${utc(timestamp)}`,
  };
}

async function readTransaction(fetch: Fetch, id: string): Promise<Found> {
  let found = await fetch(`/v1/transactions/${id}`);
  if (found.status === 404) found = await fetch(`/v1/mempool/${id}`);
  if (found.status !== 200) return withoutData(found.status);
  const transaction = found.body['transaction'] as Body;
  const outputs = transaction['outputs'] as { amount: string }[];
  const amount = outputs.reduce((sum, one) => sum + BigInt(one.amount), 0n);
  const { blockTime, isAccepted, transactionId } = transaction;
  const isPending = blockTime === null || blockTime === undefined;
  const state = isAccepted === true ? 'accepted' : isPending ? 'pending' : 'not accepted';
  return {
    title: `Transaction ${short(String(transactionId))}`,
    description: `${kas(amount)}, ${state}${isPending ? '' : `, ${utc(blockTime)}`}`,
  };
}

async function readAddress(fetch: Fetch, address: string): Promise<Found> {
  const { status, body } = await fetch(`/v1/addresses/${address}`);
  if (status !== 200) return withoutData(status);
  const details = body['address'] as Body;
  const tag = details['tag'] as { name: string; isGuessed?: true } | null;
  const name = tag !== null && tag.isGuessed !== true ? `${tag.name}, ` : '';
  return {
    title: `Address ${name}${short(String(details['address']))}`,
    description: `${kas(details['balance'])}, ${plural(details['transactionCount'], 'transaction')}`,
  };
}

async function readTag(fetch: Fetch, name: string): Promise<Found> {
  const { status, body } = await fetch(`/v1/tags?limit=1&name=${name}`);
  if (status !== 200) return withoutData(status);
  const [tag] = body['tags'] as { name: string; labels: string[] }[];
  if (tag === undefined) return MISSING;
  return { title: tag.name, description: ['Addresses with this name', ...tag.labels].join(', ') };
}

async function readCovenant(fetch: Fetch, id: string): Promise<Found> {
  const { status, body } = await fetch(`/v1/covenants/${id}`);
  if (status !== 200) return withoutData(status);
  const { covenantId, isLive, balance, eventCount } = body['covenant'] as Body;
  return {
    title: `Covenant ${short(String(covenantId))}`,
    description: `${isLive === true ? `${kas(balance)}, live` : 'ended'}, ${plural(eventCount, 'event')}`,
  };
}

async function readProgram(fetch: Fetch, programHash: string): Promise<Found> {
  const { status, body } = await fetch(`/v1/programs/${programHash}`);
  if (status !== 200) return withoutData(status);
  const { hash, length, spendCount, uses } = body['program'] as Body;
  return {
    title: `Program ${short(String(hash))}`,
    description: [plural(length, 'byte'), plural(spendCount, 'spend'), ...(uses as string[])].join(', '),
  };
}

/** Names are left out: they are claims, and a title has no room to say so. */
async function readTemplate(fetch: Fetch, hash: string): Promise<Found> {
  const { status, body } = await fetch(`/v1/templates/${hash}`);
  if (status !== 200) return withoutData(status);
  const { template, programCount, covenantCount } = body['template'] as Body;
  return {
    title: `Template ${short(String(template))}`,
    description: `${plural(programCount, 'program')}, ${plural(covenantCount, 'covenant')}`,
  };
}

async function readLane(fetch: Fetch, id: string): Promise<Found> {
  const { status, body } = await fetch(`/v1/lanes/${id}`);
  if (status !== 200) return withoutData(status);
  const { namespace, transactionCount, fees } = body['lane'] as Body;
  return {
    title: `Lane ${String(namespace)}`,
    description: `${plural(transactionCount, 'transaction')}, ${kas(fees)} of fees`,
  };
}

/** Reads the object of a page, by the name of its parameter. */
const READERS: Readonly<Record<string, (fetch: Fetch, value: string) => Promise<Found>>> = {
  hash: readBlock,
  transactionId: readTransaction,
  address: readAddress,
  name: readTag,
  covenantId: readCovenant,
  programHash: readProgram,
  template: readTemplate,
  namespace: readLane,
};

export const encodePart = (part: string): string => encodeURIComponent(part).replaceAll('%3A', ':');

export function createPageReader(app: FastifyInstance): PageReader {
  return async (request) => {
    const [[parameter, value] = []] = Object.entries(request.params as Record<string, string>);
    const read = READERS[parameter ?? ''];
    if (read === undefined || value === undefined) return undefined;
    const fetch: Fetch = async (url) => {
      const response = await app.inject({ url, remoteAddress: request.ip });
      const isJson = String(response.headers['content-type']).startsWith('application/json');
      return { status: response.statusCode, body: isJson ? response.json<Body>() : {} };
    };
    try {
      return await read(fetch, encodePart(value));
    } catch (error) {
      request.log.warn({ reason: String(error) }, 'could not read the data of a page');
      return undefined;
    }
  };
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ESCAPES[character] ?? '');

/** Puts title and description into the document. */
export function addPageData(document: string, { title, description }: PageData): string {
  const heading = escape(`${title} · Kasgres`);
  const tags = [
    `<title>${heading}</title>`,
    `<meta name="description" content="${escape(description)}" />`,
    '<meta property="og:site_name" content="Kasgres" />',
    '<meta property="og:type" content="website" />',
    `<meta property="og:title" content="${heading}" />`,
    `<meta property="og:description" content="${escape(description)}" />`,
  ].join('\n    ');
  return document.replace(/\s*<meta\s+name="description"[^>]*>/, '').replace(/<title>[^<]*<\/title>/, () => tags);
}
