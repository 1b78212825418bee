/** GET /v1/inscriptions: operations of protocols that accepted transactions state. */
import { fromHex } from '@kasgres/kaspa';
import type { JsonValue } from '@kasgres/programs';
import {
  addressInput,
  count,
  hash,
  jsonArray,
  jsonObject,
  type ParameterOf,
  requireCaughtUp,
  requireNetwork,
  statementsBy,
  timestamp,
} from '@kasgres/reads';
import { sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import { z } from 'zod';
import { statementRoute } from '../../openapi/route.ts';
import { cursorOf, pageProblems, type PageStart, startOf } from '../../pages/key-page.ts';
import { pageQuery } from '../../pages/page-query.ts';
import { listing, page } from '../shared.ts';
import { bodyOf } from './body.ts';
import { type InscriptionFilter, inscriptionPage, type InscriptionParameters } from './select-page.ts';

const PAYLOAD = -1;
/** A plain transaction id is behind all of its items, in either direction. */
const BEHIND = { after: -2, before: 32_767 };

const cursorInput = z
  .string()
  .regex(
    /^(?:0x)?[0-9a-fA-F]{64}(?::(?:payload|\d{1,5}))?$/,
    'must be a transaction id, with or without a colon and `payload` or the index of an input',
  )
  .transform((text) => {
    const [, id = '', source] = /^(?:0x)?([^:]*)(?::(.*))?$/.exec(text) ?? [];
    const input = source === 'payload' ? PAYLOAD : source === undefined ? undefined : Math.min(Number(source), 32_766);
    return { cursor: fromHex(id), input };
  })
  .meta({
    description:
      '`transactionId:source` of an item, with `payload` or the index of the input as the source. A plain `transactionId` is behind all items of the transaction',
  });

const inscription = z
  .object({
    transactionId: hash,
    source: z
      .union([z.literal('payload'), z.strictObject({ input: count })])
      .meta({ description: 'The payload, or the program that this input reveals' }),
    protocol: z.string().meta({
      description:
        '`krc-20`, `krc-721`, `kspr`, `kns`, `kasplex-l2`, `igra`, `kasia`, `kachat`, `k`, `kaspatalk`, `kaspa-file`; later versions may add others',
    }),
    operation: z.string().nullable().meta({
      description:
        "The protocol's name of it; null if it has none; `undecodable` if the bytes are no operation of the protocol",
    }),
    tick: z.string().nullable().meta({ description: 'Ticker, token id, name or channel' }),
    body: z.unknown().meta({
      description:
        'The JSON array or object that somebody wrote, else the text; null for other bytes and for more than 64 KiB. Nobody has checked it',
    }),
    isAccepted: z.boolean(),
    timestamp: timestamp.meta({ description: 'Time of the accepting block' }),
  })
  .meta({ id: 'Inscription' });

type Item = Omit<z.infer<typeof inscription>, 'body'> & { body: string | null };

const inscriptions = statementsBy(
  'inscriptions',
  (parameter: ParameterOf<InscriptionParameters>, variant: InscriptionFilter & { start: PageStart }) => {
    const { items, metadata, ...parts } = inscriptionPage(parameter, variant);
    return {
      ...parts,
      body: jsonBuildObject({
        inscriptions: jsonArray(
          jsonObject<Item>({
            transactionId: sql`encode(transactions.transaction_id, 'hex')`,
            source: sql`case when page.input < 0 then '"payload"'::json
              else json_build_object('input', page.input) end`,
            protocol: sql`kinds.protocol`,
            operation: sql`nullif(kinds.operation, '')`,
            tick: sql`nullif(kinds.tick, '')`,
            body: sql`encode(page.bytes, 'hex')`,
            isAccepted: sql`transactions.accepting_index is not null`,
            timestamp: sql`accepting.timestamp`,
          }),
          sql`from page
            join transactions on transactions.id = page.transaction_id
            join inscription_kinds kinds on kinds.id = page.kind_id
            left join chain_blocks accepting
              on accepting.index = transactions.accepting_index ${items}`,
        ),
        metadata,
      }),
    };
  },
);

const bodyOfItem = ({ source, body }: Item): JsonValue =>
  body === null ? null : bodyOf(fromHex(body), source === 'payload' ? undefined : source.input);

/** Replaces the hex of each source by its content. */
function withBodies<Page extends { inscriptions: z.infer<typeof inscription>[] }>(json: Page): Page {
  return { ...json, inscriptions: json.inscriptions.map((item) => ({ ...item, body: bodyOfItem(item as Item) })) };
}

const name = z.string().regex(/^[a-z0-9_-]{1,32}$/, 'must be 1 to 32 of a-z, digits, _ and -');

export const listInscriptions = statementRoute(
  {
    ...listing('Inscription', '/v1/inscriptions', 'listInscriptions'),
    summary: 'Operations of protocols that accepted transactions state, newest transaction first',
    description:
      'Whether an operation has an effect, only the indexer of the protocol knows: there are no balances (docs/programs.md). `scannedTo` occurs with `protocol` or `operation`.',
    // Later decoders decode what is indexed again.
    tagOf: 'content',
    query: pageQuery(cursorInput, {
      protocol: name.optional().meta({ description: 'Only of this protocol' }),
      operation: name.optional().meta({
        description: 'Only with this name, such as `mint`; `undecodable` for those without one that can be read',
      }),
      tick: z
        .string()
        .min(1)
        .max(255)
        .refine((text) => !text.includes('\0'), 'must not contain the character 0')
        .optional()
        .meta({
          description: 'Only of this ticker, token id, name or channel; as given, in lower case or in upper case',
        }),
      address: addressInput
        .optional()
        .meta({ description: 'Only of this sender: the key of an envelope, or the address that input 0 spends from' }),
    }),
    response: page({ inscriptions: z.array(inscription).meta({ description: 'Newest transaction first' }) }),
    finishOf: () => (selected) => withBodies(selected),
  },
  ({ query }, settled) => {
    const { limit, protocol, operation, tick, address } = query;
    if (address !== undefined) requireNetwork(settled.network, address, 'address');
    requireCaughtUp(settled);
    const start = startOf(query);
    const found = cursorOf(query);
    const variant = {
      start,
      byAddress: address !== undefined,
      byTick: tick !== undefined,
      byProtocol: protocol !== undefined,
      byOperation: operation !== undefined,
    };
    const input = found && (found.input ?? (start === 'before' ? BEHIND.before : BEHIND.after));
    return inscriptions(variant).with({ limit, cursor: found?.cursor, input, address, protocol, operation, tick });
  },
  pageProblems,
);
