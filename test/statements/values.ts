/**
 * Values of parameters, and requests that the parameters of the documents do not give, on the index
 * of fixture.ts.
 */
import type { Fixture } from './fixture.ts';
import type { Values, Variant } from './requests.ts';

type Landmarks = Fixture['landmarks'];

/** Returns the values of the parameters of a path. */
export function valuesOf(landmarks: Landmarks, path: string): Values {
  const { addresses, members, blockHash, early, removed, daaScore } = landmarks;
  const hashes: Values = { programs: landmarks.programs, templates: landmarks.templates };
  return {
    address: addresses,
    hash: hashes[path.split('/')[2] ?? ''] ?? [blockHash, early, removed],
    startHash: [blockHash],
    lowHash: [blockHash],
    around: [blockHash],
    transactionId: path.startsWith('/v1/mempool') ? [] : landmarks.transactionIds,
    covenantId: landmarks.covenantIds,
    namespace: landmarks.namespaces,
    template: landmarks.templates,
    evidence_for: members.slice(0, 1),
    date: ['2025-06-15'],
    start: [daaScore],
    end: [daaScore],
    limit: [path.includes('virtual-chain') ? 10 : path.includes('search') ? 20 : 100],
    offset: [1],
    span: [2],
    before: [2_000_000_000_000],
    after: [1],
    label: ['exchange'],
    name: ['Harbour Exchange'],
    protocol: ['krc20'],
    operation: ['mint'],
    tick: [landmarks.tick],
    min_amount: [1],
    windowSize: [1000],
    fields: ['transaction_id'],
    // The other values are errors.
    filterTransactionPool: [false],
    replaceByFee: [false],
    // `extrasOf` and `restExamples` have them.
    from: [],
    to: [],
    q: [],
    blueScore: [],
    blueScoreGte: [],
    blueScoreLt: [],
  };
}

/**
 * Returns requests that differ from the example in several parameters, or in others than those of
 * the document.
 */
export function extrasOf({ landmarks, examples }: Fixture): Readonly<Record<string, readonly Variant[]>> {
  const { addresses, members, covenantIds, daaScore, programs, templates, transactionIds } = landmarks;
  const history = { path: { address: addresses[0] ?? '' } };
  const [from, to] = [1, 2_000_000_000_000];
  const times = [
    { query: { from }, label: 'from' },
    { query: { to }, label: 'to' },
  ];
  const filters = { from, to, direction: 'sent', min_amount: 1, accepted_only: true };
  const everything = { include: 'tags,programs', include_payload: true };
  const searched = [
    ...[transactionIds, addresses, covenantIds, programs, templates].flatMap((all) => all.slice(0, 1)),
    'harb',
    '10',
  ];
  return {
    listAddressTransactions: [
      ...times.map((time) => ({ ...history, ...time })),
      { ...history, query: filters, label: 'all filters' },
      { path: { address: landmarks.inscriber }, query: { ...everything, limit: 100 }, label: 'everything' },
      { ...history, accept: 'text/csv', label: 'as CSV' },
      { ...history, query: filters, accept: 'text/csv', label: 'as CSV, all filters' },
    ],
    getAddressBalanceHistory: times.map((time) => ({ ...history, ...time })),
    getAddressCluster: [
      { path: { address: landmarks.unclustered }, label: 'without a cluster' },
      {
        path: { address: members[1] ?? '' },
        query: { evidence_for: members[2] ?? '' },
        label: 'evidence_for another one',
      },
    ],
    getUtxosByAddresses: [
      { body: { addresses: [examples['listAddressCovenants']?.path?.['address']] }, label: 'with covenants' },
    ],
    getNetworkHistory: times,
    getNetworkProtocols: times,
    getDag: [{ query: { from: daaScore - 2, to: daaScore }, label: 'from and to' }, { label: 'the latest' }],
    search: [...searched, landmarks.tick].map((q) => ({ query: { q }, label: 'another text' })),
    getProgram: programs.map((hash) => ({ path: { hash }, label: 'another program' })),
    getTemplate: templates.map((hash) => ({ path: { hash }, label: 'another template' })),
    getTransaction: [{ ...examples['getTransaction'], query: everything, label: 'everything' }],
    getTransactions: [
      { body: { transactionIds, includePayload: true, include: 'tags,programs' }, label: 'everything' },
    ],
    listCovenants: [
      { query: { order: 'created', template: templates[0] ?? '', live_only: true }, label: 'all filters' },
    ],
  };
}

/** Returns requests that differ below a gap. */
export function belowGapOf({ addresses: [address = ''], early }: Landmarks): Readonly<Record<string, Variant>> {
  const label = 'below a gap';
  return {
    getStatus: { label },
    getAddressBalanceHistory: { path: { address }, label },
    getVirtualChainFromBlock: { body: { startHash: early, includeAcceptedTransactionIds: false }, label },
  };
}

/**
 * Returns the examples of routes of /rest that need more than the values of parameters in their
 * path.
 */
export function restExamples(landmarks: Landmarks): Readonly<Record<string, readonly Variant[]>> {
  const { addresses, blockHash, transactionIds } = landmarks;
  const gte = Math.floor(landmarks.blueScore / 100) * 100;
  const ofAddresses = [{ body: { addresses }, label: '' }];
  return {
    '/addresses/active': ofAddresses,
    '/addresses/balances': ofAddresses,
    '/addresses/utxos': ofAddresses,
    '/blocks': [{ query: { lowHash: blockHash, includeBlocks: true }, label: '' }],
    '/blocks-from-bluescore': [
      { query: { blueScore: gte }, label: 'blueScore' },
      { query: { blueScoreGte: gte }, label: 'blueScoreGte' },
      { query: { blueScoreLt: gte }, label: 'blueScoreLt' },
    ],
    '/virtual-chain': [{ query: { blueScoreGte: gte, limit: 10 }, label: '' }],
    '/info/get-vscp-from-block': [{ query: { startHash: blockHash }, label: '' }],
    '/transactions/acceptance': [{ body: { transactionIds }, label: '' }],
    '/transactions/search': [
      { body: { transactionIds }, label: 'transactionIds' },
      { body: { acceptingBlueScores: { gte, lt: gte + 1 } }, label: 'acceptingBlueScores' },
    ],
  };
}
