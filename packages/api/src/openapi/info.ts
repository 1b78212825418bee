/** What openapi.json tells in words: how to use the API as a whole, and what its parts are. */

const DESCRIPTION = `Blocks, transactions, balances and tags of the Kaspa blockDAG from an index in Postgres, and some calls of its node.

### Keys and request units

Every request but those for the status and this documentation carries an API key in the header \`x-api-key\`; keys are made by the operator
(\`kasgres keys create NAME\`). A call costs request units (RU), told by \`x-request-cost-ru\` in the answer and here by each operation's
\`x-request-cost-ru\`. A key has so many of them in each window (\`ratelimit-limit: 500;w=1\` is 500 RU a second, of which
\`ratelimit-remaining\` are left, until \`ratelimit-reset\` seconds have passed), and may have a quota per day or month. When they are spent the
answer is a 429 that says by \`retry-after\` in how many seconds to ask again. What is refused with 401 or 429 costs nothing.

### Conventions

Hashes and transaction ids are 64 hex digits; on input of either case, with or without \`0x\`. Amounts are in sompi (1 KAS = 100,000,000
sompi) and, as all numbers that may exceed 2^53, decimal strings. Times are Unix time in milliseconds: strings under \`/v1/rpc\`,
numbers elsewhere. Under \`/v1/rpc\` an optional field without a value is left out; elsewhere it is null. Unknown fields of a body or a query are refused.

### Pages

Listings are newest first (or as the operation says). \`limit\` is the number of items, \`starting_after\` the id of the last item of the page before,
\`ending_before\` the id of the first item of the page after; \`metadata.hasMore\` tells whether more follow in that direction. A page begins exactly
behind its cursor, whatever was added meanwhile.

### One state, and caching

Each answer from the index comes from one state of the chain and names its sink in \`x-kasgres-sink\`. Its \`etag\` changes when the answer may
have changed: send it as \`if-none-match\` and get a 304 while it has not.

### What is not indexed

An index may begin at a pruning point instead of genesis, and have gaps; \`/v1/status\` has both. State is exact all the same: utxos, balances and
the supply. Responses from an index with gaps say how many in \`x-kasgres-gaps\`. Walks end before a gap, and what would have to cross one, or to
reach below the first block, is a 409 that names the blocks. A transaction that was accepted where nothing is indexed has no accepting block.

### Errors

Every error is \`{"statusCode": …, "message": "…"}\`; a 400 has \`details\` with the \`path\` of each wrong field. Beside the statuses of the
operations there are 404 for a path that is not here, and 405 (with \`allow\`) for a method that a path does not have.

### Examples

Requests and answers shown as examples were given by this API over a simulated chain, whose blocks, transactions and addresses are no
others' than its own.`;

export const info = {
  title: 'Kasgres',
  description: DESCRIPTION,
  version: '1.0',
  license: { name: 'MIT', identifier: 'MIT' },
} as const;

/** In the order in which they are shown. */
export const tags = [
  { name: 'Address', description: 'Balances, UTXOs, history and tags of addresses' },
  { name: 'Block', description: 'Blocks, their colours, and the chain among them' },
  { name: 'Transaction', description: 'Transactions, where they are, and whether they were accepted' },
  { name: 'Token', description: 'Kept for tokens; no operation yet' },
  { name: 'Node RPC Proxy', description: "The node's own calls by their names, answered by the index where it can" },
  { name: 'Status', description: 'How far the index is' },
] as const;
