/**
 * Looks up what a text may mean, in one statement with a source for each kind of result that it may
 * have.
 */
import { hasTransactionId, hex, isAccepted, jsonObject, type ParameterOf, statementsBy, text } from '@kasgres/reads';
import { type RawBuilder, sql } from 'kysely';
import { jsonBuildObject } from 'kysely/helpers/postgres';
import type { z } from 'zod';
import { tagOfScript } from '../addresses/tags.ts';
import { transactionCountOf } from '../addresses/transaction-count.ts';
import { containing, joinAccepting } from '../transactions/rest/select-transactions.ts';
import type { Meanings } from './meanings.ts';
import type {
  addressResult,
  blockResult,
  covenantResult,
  laneResult,
  programResult,
  SearchResult,
  tagResult,
  templateResult,
  tickResult,
  transactionResult,
} from './schemas.ts';

interface Parameters extends Meanings {
  isPending: boolean;
  limit: number;
}

const block = (matched: z.infer<typeof blockResult>['matched']) =>
  jsonObject<z.infer<typeof blockResult>>({
    type: sql`'block'::text`,
    id: hex('block.hash'),
    label: sql`null`,
    matched: sql`${sql.lit(matched)}::text`,
    blueScore: text('block.blue_score'),
    daaScore: text('block.daa_score'),
    timestamp: sql`block.timestamp`,
    isChainBlock: sql`block.is_chain_block`,
    color: sql`case when block.is_blue then 'blue' when not block.is_blue then 'red' end`,
  });

const byScore = (
  parameter: ParameterOf<Parameters>,
  matched: 'blueScore' | 'daaScore',
  condition: RawBuilder<unknown>,
): RawBuilder<unknown> => sql`
  select ${block(matched)} as item from blocks block where ${condition}
  order by block.is_chain_block desc, block.id limit ${parameter('limit', 'bigint')}`;

const covenants = (condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select ${jsonObject<z.infer<typeof covenantResult>>({
    type: sql`'covenant'::text`,
    id: hex('covenants.covenant_id'),
    label: sql`null`,
    isLive: sql`covenants.utxo_count > 0`,
    balance: text('covenants.balance'),
    eventCount: sql`covenants.event_count`,
  })} as item from covenants where ${condition}`;

const addresses = (requested: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select ${jsonObject<z.infer<typeof addressResult>>({
    type: sql`'address'::text`,
    id: sql`requested.address`,
    label: sql`${tagOfScript(sql`requested.address`, sql`scripts.id`)} ->> 'name'`,
    balance: sql`coalesce(balances.balance, 0)::text`,
    transactionCount: transactionCountOf(sql`balances.transaction_count`, sql`scripts.id`),
  })} as item
  from (${requested}) requested
  left join scripts on scripts.address = requested.address
  left join balances on balances.script_id = scripts.id`;

const programs = (condition: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  select ${jsonObject<z.infer<typeof programResult>>({
    type: sql`'program'::text`,
    id: hex('programs.hash'),
    label: sql`null`,
    template: sql`(select encode(template, 'hex') from program_templates where id = programs.template_id)`,
    spendCount: sql`programs.spend_count`,
  })} as item from programs where ${condition}`;

/** A name that needs no constants is that of all programs. */
const nameOfTemplate = sql<string | null>`(
  select entry ->> 'name' from template_names
    where template_names.template = program_templates.template
  order by jsonb_array_length(coalesce(entry -> 'required', '[]')), entry ->> 'name' limit 1)`;

const templates = (
  matched: z.infer<typeof templateResult>['matched'],
  condition: RawBuilder<unknown>,
  label = nameOfTemplate,
  joins = sql``,
): RawBuilder<unknown> => sql`
  select ${jsonObject<z.infer<typeof templateResult>>({
    type: sql`'template'::text`,
    id: hex('program_templates.template'),
    label,
    matched: sql`${sql.lit(matched)}::text`,
    spendCount: sql`program_templates.spend_count`,
  })} as item from program_templates ${joins} where ${condition}`;

/**
 * Kinds of one tick, which may be written in many cases, that are looked at. Kinds stay when a
 * reorg or retention has removed their inscriptions.
 */
const MAX_KINDS = sql.lit(1000);

/**
 * A meaning of a text. Most texts have two or three, and a source costs Postgres nearly as much if
 * it has no rows.
 */
type Meaning = 'hash' | 'lane' | 'address' | 'addressStart' | 'score' | 'prefix' | 'name' | 'tick';

/** Each source selects `item`, in order. The best match is first. */
const sources = (parameter: ParameterOf<Parameters>): Record<Meaning, readonly RawBuilder<unknown>[]> => {
  const limit = parameter('limit', 'bigint');
  const id = parameter('hash', 'bytea');
  const score = parameter('score', 'bigint');
  const pending = jsonObject<z.infer<typeof transactionResult>>({
    type: sql`'transaction'::text`,
    id: sql`encode(${id}, 'hex')`,
    label: sql`null`,
    blockTime: sql`null`,
    isAccepted: sql`false`,
    isPending: sql`true`,
  });
  const [prefix, prefixEnd] = [parameter('prefix', 'bytea'), parameter('prefixEnd', 'bytea')];
  const begins = (column: string): RawBuilder<unknown> =>
    sql`${sql.ref(column)} >= ${prefix} and ${sql.ref(column)} <= ${prefixEnd}`;
  return {
    hash: [
      sql`select ${block('hash')} as item from blocks block where block.hash = ${id}`,
      sql`
        select ${jsonObject<z.infer<typeof transactionResult>>({
          type: sql`'transaction'::text`,
          id: hex('transactions.transaction_id'),
          label: sql`null`,
          blockTime: sql`containing."blockTime"`,
          isAccepted: isAccepted(),
          isPending: sql`false`,
        })} as item
        from transactions ${joinAccepting} cross join lateral (${containing}) containing
        where ${hasTransactionId('transactions', id)}`,
      sql`
        select ${pending} as item where ${parameter('isPending', 'boolean')}
          and not exists (select from transactions where ${hasTransactionId('transactions', id)})`,
      covenants(sql`covenants.covenant_id = ${id}`),
      programs(sql`programs.hash = ${id}`),
      templates('template', sql`program_templates.template = ${id}`),
      templates(
        'kccTemplate',
        sql`program_templates.id in (select template_id from programs where kcc_template = ${id} limit ${limit})`,
      ),
    ],
    lane: [
      sql`
        select ${jsonObject<z.infer<typeof laneResult>>({
          type: sql`'lane'::text`,
          id: sql`encode(substring(subnetworks.subnetwork_id from 1 for 4), 'hex')`,
          label: sql`null`,
          transactionCount: sql`lanes.transaction_count`,
        })} as item
        from subnetworks join lanes on lanes.subnetwork_id = subnetworks.id
        where subnetworks.subnetwork_id = ${parameter('subnetworkId', 'bytea')}`,
    ],
    address: [addresses(sql`select ${parameter('address', 'text')} as address`)],
    addressStart: [
      sql`${addresses(sql`
          select address from scripts
          where address ~>=~ ${parameter('addressStart', 'text')}
            and address ~<~ ${parameter('addressEnd', 'text')}
          order by address using ~<~ limit ${limit}`)}
        order by requested.address using ~<~`,
    ],
    score: [
      byScore(parameter, 'blueScore', sql`block.blue_score = ${score}`),
      // A block of which both are this score is found by its blue score.
      byScore(parameter, 'daaScore', sql`block.daa_score = ${score} and block.blue_score <> ${score}`),
    ],
    prefix: [
      sql`
        select ${block('hash')} as item from blocks block
        where ${begins('block.hash')}
        order by block.hash limit ${limit}`,
      sql`${covenants(begins('covenants.covenant_id'))} order by covenants.covenant_id limit ${limit}`,
      sql`${programs(begins('programs.hash'))} order by programs.hash limit ${limit}`,
      sql`${templates('template', begins('program_templates.template'))}
        order by program_templates.template limit ${limit}`,
    ],
    name: [
      sql`
        select ${jsonObject<z.infer<typeof tagResult>>({
          type: sql`'tag'::text`,
          id: sql`named.name`,
          label: sql`named.name`,
          labels: sql`best.labels`,
          address: sql`best.address`,
          addressCount: sql`(select count(*) from tags where tags.name collate "C" = named.name)`,
        })} as item
        from (
          select lower(name) collate "C" as lower_name, name collate "C" as name from tags
          where lower(name) collate "C" >= ${parameter('tag', 'text')}
            and lower(name) collate "C" < ${parameter('tagEnd', 'text')}
          group by 1, 2 order by 1, 2 limit ${limit}
        ) named
        cross join lateral (
          select tags.address, tags.labels from tags
          left join scripts on scripts.address = tags.address
            left join balances on balances.script_id = scripts.id
          where tags.name collate "C" = named.name
          order by balances.balance desc nulls last, tags.address limit 1
        ) best
        order by named.lower_name, named.name`,
      sql`
        ${templates(
          'name',
          sql`true`,
          sql`named.name`,
          sql`join (
            select template, min(entry ->> 'name') as name,
              min(lower(entry ->> 'name') collate "C") as lower_name from template_names
            where lower(entry ->> 'name') collate "C" >= ${parameter('tag', 'text')}
              and lower(entry ->> 'name') collate "C" < ${parameter('tagEnd', 'text')}
            group by template) named on named.template = program_templates.template`,
        )} order by named.lower_name, program_templates.spend_count desc limit ${limit}`,
    ],
    tick: [
      sql`
        select ${jsonObject<z.infer<typeof tickResult>>({
          type: sql`'tick'::text`,
          id: sql`kind.tick`,
          label: sql`kind.tick`,
          protocol: sql`kind.protocol`,
        })} as item
        from (
          select distinct protocol, tick from (
            select id, protocol, tick from inscription_kinds
            where tick <> '' and lower(tick) = lower(${parameter('tick', 'text')})
              limit ${MAX_KINDS}) kinds
          where exists (
            select from inscriptions where inscriptions.kind_id = kinds.id offset 0)) kind
        order by kind.protocol, kind.tick limit ${limit}`,
    ],
  };
};

const resultsOf = statementsBy(
  'search',
  (parameter: ParameterOf<Parameters>, meanings: Readonly<Record<Meaning, boolean>>) => {
    const chosen = Object.entries(sources(parameter)).filter(([meaning]) => meanings[meaning as Meaning]);
    const ranked = chosen
      .flatMap(([, rows]) => rows)
      .map(
        (source, rank) => sql`
          select source.item, ${sql.lit(rank)} as rank, row_number() over () as position
            from (${source}) source`,
      );
    return {
      body: jsonBuildObject({
        results: sql<SearchResult[]>`(
          select coalesce(json_agg(best.item order by best.rank, best.position), '[]') from (
            select * from (${sql.join(ranked, sql` union all `)}) found
            order by rank, position limit ${parameter('limit', 'bigint')}
          ) best)`,
      }),
    };
  },
);

export function searchFor(parameters: Parameters) {
  const { hash, subnetworkId, address, addressStart, score, prefix, tag, tick } = parameters;
  const statement = resultsOf({
    hash: hash !== undefined,
    lane: subnetworkId !== undefined,
    address: address !== undefined,
    addressStart: addressStart !== undefined,
    score: score !== undefined,
    prefix: prefix !== undefined,
    name: tag !== undefined,
    tick: tick !== undefined,
  });
  return statement.with(parameters);
}
