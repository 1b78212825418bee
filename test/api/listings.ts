/** Every listing of the API, with SQL for the expected cursors of its items in order. */
import type { Pool } from 'pg';

export interface Listing {
  /** As in openapi.json. */
  template: string;
  values: Record<string, string>;
  /** Filters. */
  query: Record<string, string>;
  /** The field of the response that holds the items. */
  field: string;
  cursorOf: (item: Item) => string;
  /** Selects the cursors of all items, in order. */
  items: string;
  /** Selects all valid cursors, also of items that a filter leaves out and of spent UTXOs. */
  positions: string;
}

export type Item = Readonly<Record<string, unknown>>;

const transactionIdOf = ({ transactionId }: Item): string => String(transactionId);
const addressOf = ({ address }: Item): string => String(address);

const selectTransactions = (condition: string): string =>
  `select encode(transaction_id, 'hex') as cursor from transactions where ${condition} order by id desc`;

export function transactions(acceptedOnly = false): Listing {
  return {
    template: '/v1/transactions',
    values: {},
    query: flag('accepted_only', acceptedOnly),
    field: 'transactions',
    cursorOf: transactionIdOf,
    items: selectTransactions(acceptedOnly ? 'accepting_index is not null' : 'true'),
    positions: selectTransactions('true'),
  };
}

const selectBlocks = (condition: string): string =>
  `select encode(hash, 'hex') as cursor from blocks where ${condition} order by id desc`;

export function blocks(chainOnly = false): Listing {
  return {
    template: '/v1/blocks',
    values: {},
    query: flag('chain_only', chainOnly),
    field: 'blocks',
    cursorOf: ({ hash }) => String(hash),
    items: selectBlocks(chainOnly ? 'is_chain_block' : 'true'),
    positions: selectBlocks('true'),
  };
}

const selectAddresses = (condition: string): string =>
  `select item.balance || ':' || s.address as cursor from balances item join scripts s on s.id = item.script_id
   where s.address is not null and ${condition} order by item.balance desc, item.script_id desc`;

export function addresses(taggedOnly = false): Listing {
  return {
    template: '/v1/addresses',
    values: {},
    query: flag('tagged_only', taggedOnly),
    field: 'addresses',
    cursorOf: ({ balance, address }) => `${String(balance)}:${String(address)}`,
    items: selectAddresses(taggedOnly ? 'item.balance > 0 and item.is_tagged' : 'item.balance > 0'),
    positions: selectAddresses('true'),
  };
}

/** Returns the address of a cursor `balance:address`. */
export const addressOfHolder = (cursor: string): string => cursor.slice(cursor.indexOf(':') + 1);

const selectTags = (condition: string): string =>
  `select address as cursor from tags where ${condition} order by name collate "C", address collate "C"`;

export function tags(label?: string): Listing {
  return {
    template: '/v1/tags',
    values: {},
    query: label === undefined ? {} : { label },
    field: 'tags',
    cursorOf: addressOf,
    items: selectTags(label === undefined ? 'true' : `'${label}' = any(labels)`),
    positions: selectTags('true'),
  };
}

export interface Owner {
  address: string;
  /** scripts.id */
  scriptId: number;
}

export function addressTransactions({ address, scriptId }: Owner, acceptedOnly = false): Listing {
  const select = (condition: string): string =>
    `select encode(t.transaction_id, 'hex') as cursor
     from transactions t join address_transactions a on a.transaction_id = t.id
     where a.script_id = ${scriptId} and ${condition} order by a.transaction_id desc`;
  return {
    template: '/v1/addresses/{address}/transactions',
    values: { address },
    query: flag('accepted_only', acceptedOnly),
    field: 'transactions',
    cursorOf: transactionIdOf,
    items: select(acceptedOnly ? 't.accepting_index is not null' : 'true'),
    positions: select('true'),
  };
}

export function addressUtxos({ address, scriptId }: Owner): Listing {
  const select = (table: string): string =>
    `select encode(coalesce(t.transaction_id, e.transaction_id), 'hex') || ':' || item.index as cursor
     from ${table} item
     left join transactions t on t.id = item.transaction_id
     left join pre_bootstrap_transactions e on e.id = item.transaction_id
     where item.script_id = ${scriptId} order by item.transaction_id desc, item.index desc`;
  return {
    template: '/v1/addresses/{address}/utxos',
    values: { address },
    query: {},
    field: 'utxos',
    cursorOf: ({ transactionId, index }) => `${String(transactionId)}:${String(index)}`,
    items: select('utxos'),
    positions: select('transaction_outputs'),
  };
}

/** @param root of the cluster */
export function clusterMembers({ address, scriptId }: Owner): Listing {
  const items = `
    with recursive ring (script_id, next_id, place) as (
      select script_id, next_id, 0 from cluster_members where script_id = ${scriptId}
      union all
      select m.script_id, m.next_id, place + 1 from ring
        join cluster_members m on m.script_id = ring.next_id
      where ring.next_id <> ${scriptId}
    )
    select s.address as cursor from ring join scripts s on s.id = ring.script_id order by place`;
  return {
    template: '/v1/addresses/{address}/cluster',
    values: { address },
    query: {},
    field: 'members',
    cursorOf: addressOf,
    items,
    positions: items,
  };
}

export function lanes(): Listing {
  const items = `
    select last_seen || ':' || lane_namespace(s.subnetwork_id) as cursor
    from lanes l join subnetworks s on s.id = l.subnetwork_id
      order by l.last_seen desc, l.subnetwork_id desc`;
  return {
    template: '/v1/lanes',
    values: {},
    query: {},
    field: 'lanes',
    cursorOf: ({ lastSeen, namespace }) => `${String(lastSeen)}:${String(namespace)}`,
    items,
    positions: items,
  };
}

export function laneTransactions(namespace: string, acceptedOnly = false): Listing {
  const select = (condition: string): string =>
    selectTransactions(
      `subnetwork_id = (select s.id from subnetworks s
        where lane_namespace(s.subnetwork_id) = '${namespace}') and ${condition}`,
    );
  return {
    template: '/v1/lanes/{namespace}/transactions',
    values: { namespace },
    query: flag('accepted_only', acceptedOnly),
    field: 'transactions',
    cursorOf: transactionIdOf,
    items: select(acceptedOnly ? 'accepting_index is not null' : 'true'),
    positions: select('true'),
  };
}

export function inscriptions(query: { tick?: string; address?: string } = {}): Listing {
  const conditions = [
    ...(query.tick === undefined ? [] : [`k.tick = '${query.tick}'`]),
    ...(query.address === undefined ? [] : [`s.address = '${query.address}'`]),
  ];
  const items = `
    select encode(t.transaction_id, 'hex') || ':' || case when i.input < 0 then 'payload'
      else i.input::text end as cursor
    from inscriptions i join inscription_kinds k on k.id = i.kind_id
      join transactions t on t.id = i.transaction_id
    join scripts s on s.id = i.owner_script_id
    where ${['true', ...conditions].join(' and ')} order by i.transaction_id desc, i.input desc`;
  return {
    template: '/v1/inscriptions',
    values: {},
    query,
    field: 'inscriptions',
    cursorOf: ({ transactionId, source }) =>
      `${String(transactionId)}:${source === 'payload' ? 'payload' : (source as { input: number }).input}`,
    items,
    positions: items,
  };
}

interface CovenantFilter {
  order?: 'last_seen' | 'created';
  liveOnly?: boolean;
  /** In hex. */
  template?: string;
}

const CURSOR_OF_COVENANT = {
  last_seen: ({ lastSeen, covenantId }: Item) => `${String(lastSeen)}:${String(covenantId)}`,
  created: ({ firstSeen, covenantId }: Item) => `${String(firstSeen)}:${String(covenantId)}`,
};

export function covenants({ order = 'last_seen', liveOnly = false, template }: CovenantFilter = {}): Listing {
  const time = order === 'created' ? 'first_seen' : 'last_seen';
  const select = (condition: string): string =>
    `select ${time} || ':' || encode(covenant_id, 'hex') as cursor from covenants where ${condition}
     order by ${time} desc, covenant_id desc`;
  const ofTemplate =
    template === undefined
      ? 'true'
      : `template_id = (select id from program_templates where template = '\\x${template}')`;
  return {
    template: '/v1/covenants',
    values: {},
    query: {
      ...(order === 'created' && { order }),
      ...flag('live_only', liveOnly),
      ...(template !== undefined && { template }),
    },
    field: 'covenants',
    cursorOf: CURSOR_OF_COVENANT[order],
    items: select(`${ofTemplate} and (utxo_count > 0 or not ${String(liveOnly)})`),
    positions: select('true'),
  };
}

/** @param template in hex */
export function templateCovenants(template: string): Listing {
  const { query: _filter, ...listing } = covenants({ template });
  return { ...listing, template: '/v1/templates/{hash}/covenants', values: { hash: template }, query: {} };
}

export function addressCovenants({ address, scriptId }: Owner): Listing {
  return {
    template: '/v1/addresses/{address}/covenants',
    values: { address },
    query: {},
    field: 'covenants',
    cursorOf: ({ covenantId }) => String(covenantId),
    items: `select distinct encode(covenant_id, 'hex') as cursor from utxos
      where script_id = ${scriptId} and covenant_id is not null order by 1`,
    positions: `select encode(covenant_id, 'hex') as cursor from covenants order by 1`,
  };
}

/** @param covenantId in hex */
export function covenantUtxos(covenantId: string): Listing {
  const select = (table: string): string =>
    `select encode(coalesce(t.transaction_id, e.transaction_id), 'hex') || ':' || item.index as cursor
     from ${table} item
     left join transactions t on t.id = item.transaction_id
     left join pre_bootstrap_transactions e on e.id = item.transaction_id
     where item.covenant_id = '\\x${covenantId}'
       order by item.transaction_id desc, item.index desc`;
  return {
    template: '/v1/covenants/{covenantId}/utxos',
    values: { covenantId },
    query: {},
    field: 'utxos',
    cursorOf: ({ transactionId, index }) => `${String(transactionId)}:${String(index)}`,
    items: select('utxos'),
    positions: select('transaction_outputs'),
  };
}

/** @param covenantId in hex */
export function covenantEvents(covenantId: string): Listing {
  const items = `
    select encode(t.transaction_id, 'hex') as cursor
    from covenants c join covenant_events e on e.covenant_id = c.id
      join transactions t on t.id = e.transaction_id
    where c.covenant_id = '\\x${covenantId}' order by e.chain_index desc, e.position desc`;
  return {
    template: '/v1/covenants/{covenantId}/events',
    values: { covenantId },
    query: {},
    field: 'events',
    cursorOf: transactionIdOf,
    items,
    positions: items,
  };
}

/** Pages end between two transactions, so that this fits only where each has one event. */
export function newestCovenantEvents(): Listing {
  const items = `
    select encode(t.transaction_id, 'hex') as cursor
    from covenant_events e join transactions t on t.id = e.transaction_id
    order by e.chain_index desc, e.position desc, e.covenant_id desc`;
  return {
    template: '/v1/covenant-events',
    values: {},
    query: {},
    field: 'events',
    cursorOf: transactionIdOf,
    items,
    positions: items,
  };
}

export function templates(): Listing {
  const items = `
    select spend_count || ':' || encode(template, 'hex') as cursor from program_templates
      order by spend_count desc, template desc`;
  return {
    template: '/v1/templates',
    values: {},
    query: {},
    field: 'templates',
    cursorOf: ({ spendCount, template }) => `${String(spendCount)}:${String(template)}`,
    items,
    positions: items,
  };
}

function flag(name: string, isSet: boolean): Record<string, string> {
  return isSet ? { [name]: 'true' } : {};
}

export async function listCursors(pool: Pool, statement: string): Promise<string[]> {
  const { rows } = await pool.query<{ cursor: string }>(statement);
  return rows.map(({ cursor }) => cursor);
}

/** Returns the address with most transactions. */
export async function findBusiestOwner(pool: Pool): Promise<Owner> {
  const { rows } = await pool.query<{ address: string; script_id: bigint }>(
    `select s.address, s.id as script_id
     from scripts s join address_transactions a on a.script_id = s.id
     where s.address is not null and exists (select from utxos u where u.script_id = s.id)
     group by s.id order by count(*) desc, s.id limit 1`,
  );
  const [busiest] = rows;
  if (busiest === undefined) throw new Error('No address holds anything');
  return { address: busiest.address, scriptId: Number(busiest.script_id) };
}
