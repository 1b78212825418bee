/**
 * Responses of the API for one covenant in five events, whose program has four states, and a lane.
 * The pages show them as if the chain had them, so that tests need no chain with contracts, and may
 * have texts that nobody sends.
 */
import { blake2b256, fromHex, toHex } from '@kasgres/kaspa';
import { COLLECTION } from '../../packages/programs/src/testing/chain-programs.ts';

/** A name with a bidirectional override, an invisible character and markup. */
export const HOSTILE_TEXT = 'a\u202eb\u200b<img src=//example.org/x>';
/** The same as a page shows it. */
export const SHOWN_TEXT = String.raw`a\u{202e}b\u{200b}<img src=//example.org/x>`;

const TEMPLATE = COLLECTION.template;
const ADDRESS = 'kaspasim:prq4tgnzhmgg7pp9whsr3v5dc0f0pqfh8nqmvmv0ql0wn6k8ekq6xkx0qtgp0';
const START_MS = Date.UTC(2026, 6, 1);
const hash = (number: number): string => number.toString(16).padStart(2, '0').repeat(32);

/** The state is what push 4 has: 1, 0.3, 0.01 and 0.001 KAS. */
const PROGRAMS = new Map(
  ['00e1f505', '80c3c901', '40420f00', 'a0860100'].map((amount) => {
    const bytes = fromHex(toHex(COLLECTION.bytes).replace('0400e1f505', `04${amount}`));
    return [toHex(blake2b256(bytes)), toHex(bytes)];
  }),
);

export const IDS = {
  covenant: hash(0xc1),
  program: [...PROGRAMS.keys()][0] ?? '',
  template: TEMPLATE,
  namespace: '6b726f6e',
};

function eventOf(number: number, kind: 'genesis' | 'transition' | 'burn') {
  const program = { hash: [...PROGRAMS.keys()][number - 2], template: TEMPLATE };
  const output = {
    index: 0,
    amount: '1250000000',
    scriptPublicKey: `aa20${hash(7)}87`,
    scriptPublicKeyAddress: ADDRESS,
    spentBy: hash(number + 1),
  };
  return {
    covenantId: IDS.covenant,
    transactionId: hash(number),
    kind,
    timestamp: START_MS + number * 3_600_000,
    acceptingBlockHash: hash(0xbb),
    inputs:
      kind === 'genesis'
        ? []
        : [{ index: 0, previousOutput: { transactionId: hash(number - 1), index: 0 }, amount: '1250000000', program }],
    outputs: kind === 'burn' ? [] : [output],
  };
}

const EVENTS = [
  eventOf(5, 'burn'),
  eventOf(4, 'transition'),
  eventOf(3, 'transition'),
  eventOf(2, 'transition'),
  eventOf(1, 'genesis'),
];

const COVENANT = {
  covenantId: IDS.covenant,
  isComplete: true,
  genesis: {
    transactionId: hash(1),
    previousOutput: { transactionId: hash(0xee), index: 1 },
    timestamp: START_MS,
  },
  isLive: false,
  utxoCount: 0,
  balance: '0',
  eventCount: 5,
  firstSeen: START_MS,
  lastSeen: START_MS + 18_000_000,
  template: TEMPLATE,
};
const INCOMPLETE = {
  ...COVENANT,
  covenantId: hash(0xc2),
  isComplete: false,
  genesis: null,
  isLive: true,
  utxoCount: 2,
  balance: '2500000000',
  template: null,
};

const TEMPLATE_DETAILS = {
  template: TEMPLATE,
  programCount: 4,
  spendCount: 4,
  covenantCount: 1,
  firstSeen: START_MS,
  names: [
    {
      name: HOSTILE_TEXT,
      source: 'https://example.org/collection.sil',
      description: null,
      importedFrom: 'names.yaml',
      pushes: [{ push: 4, name: 'next_amount', type: 'amount' }],
      required: [{ push: 0, value: '0a' }],
      state: { first: 4, last: 4 },
      seen: [],
    },
    {
      name: 'look-alike',
      source: 'https://example.org/other.sil',
      description: null,
      importedFrom: 'names.yaml',
      pushes: [],
      required: [{ push: 0, value: '0b' }],
      state: null,
      seen: [],
    },
  ],
};

const LANE = {
  namespace: IDS.namespace,
  transactionCount: 1234,
  gas: '987654',
  fees: '123456789',
  firstSeen: START_MS,
  lastSeen: START_MS + 5_000_000,
};

/** Operations of an inscription with a hostile tick and content. */
export const OPERATIONS = [
  {
    protocol: 'krc-20',
    source: { input: 0 },
    operation: 'mint',
    tick: HOSTILE_TEXT,
    body: { p: 'krc-20', op: 'mint', tick: HOSTILE_TEXT },
  },
  { protocol: 'kasia', source: 'payload', operation: 'bcast', tick: null, body: HOSTILE_TEXT },
  { protocol: 'kspr', source: { input: 1 }, operation: 'undecodable', tick: null, body: null },
  { protocol: 'kns', source: { input: 2 }, operation: null, tick: null, body: null },
];

const INSCRIPTIONS = OPERATIONS.map((operation) => ({
  ...operation,
  transactionId: hash(0xab),
  isAccepted: true,
  timestamp: START_MS,
}));

const HISTORY = [0, 1, 2].map((day) => ({
  start: START_MS + day * 86_400_000,
  isOpen: day === 2,
  transactions: 1000,
  fees: '100000000',
  protocols: [
    { protocol: 'kasia', transactions: 20, fees: '100000' },
    { protocol: 'krc-20', transactions: 100 + day, fees: '50000000' },
  ],
  covenantEvents: { genesis: 1, transition: 3, burn: day },
  lanes: { transactions: 7, gas: '1000', fees: '7000' },
  opcodes: [{ family: 'introspection', spends: 4, fees: '4000' }],
}));

const METADATA = { limit: 20, hasMore: false };

function programOf(programHash: string): object {
  return {
    hash: programHash,
    length: 83,
    uses: ['introspection', 'covenants'],
    template: TEMPLATE,
    kccTemplate: null,
    isBare: false,
    firstSeen: START_MS,
    firstRevealed: { transactionId: hash(2), source: 'input', index: 0 },
    spendCount: 1,
    bytes: PROGRAMS.get(programHash) ?? null,
  };
}

const RESPONSES: readonly [path: RegExp, respond: (id: string) => object][] = [
  [/^\/v1\/covenants$/, () => ({ covenants: [COVENANT, INCOMPLETE], metadata: METADATA })],
  [/^\/v1\/search$/, () => ({ results: [{ type: 'program', id: IDS.program }] })],
  [/^\/v1\/covenant-events$/, () => ({ events: EVENTS, metadata: METADATA })],
  [/^\/v1\/covenants\/[0-9a-f]{64}$/, () => ({ covenant: COVENANT })],
  [/^\/v1\/covenants\/[0-9a-f]{64}\/utxos$/, () => ({ utxos: [], metadata: METADATA })],
  [/^\/v1\/covenants\/[0-9a-f]{64}\/events$/, () => ({ events: EVENTS, metadata: METADATA })],
  [/^\/v1\/programs\/([0-9a-f]{64})$/, (id) => ({ program: programOf(id) })],
  [/^\/v1\/templates$/, () => ({ templates: [TEMPLATE_DETAILS], metadata: METADATA })],
  [/^\/v1\/templates\/[0-9a-f]{64}$/, () => ({ template: TEMPLATE_DETAILS })],
  [/^\/v1\/templates\/[0-9a-f]{64}\/covenants$/, () => ({ covenants: [COVENANT], metadata: METADATA })],
  [/^\/v1\/lanes$/, () => ({ lanes: [LANE], metadata: METADATA })],
  [/^\/v1\/lanes\/[0-9a-f]{8}$/, () => ({ lane: LANE })],
  [/^\/v1\/lanes\/[0-9a-f]{8}\/transactions$/, () => ({ transactions: [], tags: {}, metadata: METADATA })],
  [/^\/v1\/network\/protocols$/, () => ({ history: HISTORY, hasMore: false })],
  [/^\/v1\/inscriptions$/, () => ({ inscriptions: INSCRIPTIONS, metadata: METADATA })],
];

/** Returns undefined for paths of other resources. */
export function respondWithCovenants(path: string): object | undefined {
  for (const [pattern, respond] of RESPONSES) {
    const match = pattern.exec(path);
    if (match !== null) return respond(match[1] ?? '');
  }
  return undefined;
}
