const DESCRIPTION = `Blocks, transactions, balances and tags of the Kaspa blockDAG, read from an index in Postgres, and calls of its node.

### Keys and request units

Requests need an API key in the header \`x-api-key\`, except those for the status and for this documentation. The operator creates keys
(\`kasgres keys create NAME\`), and may allow reads without one, as in the demo. Each operation costs request units (RU): \`x-request-cost-ru\`, here and as a header of the response. A key has a
number of units per window: \`ratelimit-limit: 500;w=1\` allows 500 RU per second, of which \`ratelimit-remaining\` are left for
\`ratelimit-reset\` seconds. It may also have a quota per day or month. When the units are spent, the response is a 429 with the number of seconds to
wait in \`retry-after\`. Requests that are refused with 401 or 429 cost nothing.

### Conventions

Hashes and transaction ids are 64 hex digits; requests may use either case, with or without \`0x\`. Amounts are in sompi (1 KAS = 100,000,000
sompi). Amounts, and other numbers that may exceed 2^53, are decimal strings. Times are Unix time in milliseconds: strings under \`/v1/rpc\`,
numbers elsewhere. Under \`/v1/rpc\` an optional field without a value is absent; elsewhere it is null. Unknown fields of a body or a query are
an error.

### kaspa-rest-server

The routes under \`/rest\` have the forms of kaspa-rest-server. They are described in [/rest/openapi.json](/rest/openapi.json).

### Pages

Listings are newest first, unless the operation says otherwise. \`limit\` is the number of items, \`starting_after\` the id of the last item of the
previous page, \`ending_before\` the id of the first item of the next page. \`metadata.hasMore\` says whether more items follow in that direction. A
page begins exactly behind its cursor, even if items were added meanwhile.

### Consistency and caching

Each response from the index is read at one state of the chain, and names its sink in \`x-kasgres-sink\`. Its \`etag\` changes when the response may
have changed: a request with the tag as \`if-none-match\` gets a 304 until then.

### What is not indexed

An index may begin at a pruning point instead of genesis, and may have gaps; \`/v1/status\` lists both. UTXOs, balances and the supply are exact in
any case. Responses from an index with gaps have their number in \`x-kasgres-gaps\`. Operations that follow the chain stop at a gap. A request that
would have to cross a gap, or needs blocks before the first indexed block, is a 409 that names the blocks. A transaction that was accepted by a
block that is not indexed has no accepting block.

### Errors

Every error is \`{"statusCode": …, "message": "…"}\`; a 400 also has \`details\` with the \`path\` of each invalid field. Beside the statuses of
the operations there are 404 for an unknown path, and 405 (with \`allow\`) for a method that a path does not support.

### Examples

The requests and responses in the examples are those of this API over a simulated chain. Its blocks, transactions and addresses exist nowhere else.`;

export const info = {
  title: 'Kasgres',
  description: DESCRIPTION,
  version: '1.0',
  license: { name: 'MIT', identifier: 'MIT' },
} as const;

export const tags = [
  { name: 'Address', description: 'Balances, UTXOs, history and tags of addresses' },
  { name: 'Block', description: 'Blocks, their colours, and the selected parent chain' },
  {
    name: 'Network',
    description: 'The network as a whole: search, statistics, supply, miners, the DAG and the mempool',
  },
  { name: 'Transaction', description: 'Transactions and their acceptance' },
  { name: 'Inscription', description: 'Operations of protocols above the chain that transactions state' },
  { name: 'Covenant', description: 'Covenants, their UTXOs and their events' },
  { name: 'Program', description: 'Programs that spends reveal, and their templates' },
  { name: 'Lane', description: 'User lanes (KIP-21) by their accepted transactions' },
  { name: 'Stream', description: 'Events as they happen, exact and resumable' },
  { name: 'Webhook', description: 'Delivery of events to URLs, at least once and in order' },
  { name: 'Token', description: 'Reserved for tokens; no operations yet' },
  { name: 'Node RPC Proxy', description: "Calls of the node's RPC by name, served from the index where possible" },
  { name: 'Status', description: 'Progress of the index and state of the node' },
] as const;
