/** Covenants, programs, lanes and messages of a small network. */
import { checkCovenants, classifyScript, type Hash, laneNamespace, toHex } from '@kasgres/kaspa';
import { expect, test } from 'vitest';
import { acceptedBy } from '../dag/responses/chain.ts';
import type { DagTransaction } from '../dag/dag.ts';
import { growTo, smallSimulatedDag, type SmallSimulatedDag } from '../simulation/testing/small-simulated-dag.ts';
import { Simulation } from '../simulation/index.ts';
import { DEFAULT_OPTIONS } from './options.ts';
import { contractOf, CONTRACTS, firstProgram, nextProgram } from './contracts.ts';
import { Random } from './random.ts';
import { lastPush } from './scripts.ts';

/** An accepted transaction and the covenant ids of what it spends. */
interface Accepted {
  transaction: DagTransaction;
  spent: (Hash | undefined)[];
}

function acceptedIn({ node }: Pick<SmallSimulatedDag, 'node'>): Accepted[] {
  return node.dag.chainBlocks.flatMap(acceptedBy).map(({ transaction }) => ({
    transaction,
    spent: transaction.inputs.map(({ previousOutpoint: { transactionId, index } }) => {
      return node.dag.findTransaction(toHex(transactionId))?.outputs[index]?.covenant?.covenantId;
    }),
  }));
}

const eventsOf = ({ transaction: { outputs, version }, spent }: Accepted): string[] => {
  const created = outputs.flatMap(({ covenant }) => (covenant === undefined ? [] : [toHex(covenant.covenantId)]));
  const before = spent.flatMap((id) => (id === undefined ? [] : [toHex(id)]));
  const births = new Set(created.filter((id) => !before.includes(id))).size;
  const isMerge = before.some((id, at) => before.indexOf(id) < at && created.includes(id));
  const isSplit = created.some((id, at) => created.indexOf(id) < at && before.includes(id));
  return [
    ...(births > 0 ? [before.length > 0 ? 'birth from another covenant' : 'birth'] : []),
    ...(births > 1 ? ['two births'] : []),
    ...(isMerge ? ['merge'] : []),
    ...(isSplit ? ['split'] : []),
    ...(before.some((id) => created.includes(id)) ? ['continuation'] : []),
    ...(new Set(before).size > 1 ? ['two covenants'] : []),
    ...(before.some((id) => !created.includes(id)) ? [`burn in version ${version}`] : []),
  ];
};

test('a network of applications has every event of covenants, contracts, lanes and messages, and no binding is invalid', () => {
  const network = smallSimulatedDag('applications', 500, {}, { applicationRate: 1, hostileRate: 0.2 });
  const accepted = acceptedIn(network);
  expect(accepted.filter(({ transaction, spent }) => checkCovenants(transaction, spent) !== undefined)).toEqual([]);
  expect(new Set(accepted.flatMap(eventsOf))).toEqual(
    new Set([
      'birth',
      'birth from another covenant',
      'two births',
      'merge',
      'split',
      'continuation',
      'two covenants',
      'burn in version 0',
      'burn in version 1',
    ]),
  );
  const revealed = accepted.flatMap(({ transaction: { inputs } }) => {
    return inputs.flatMap(
      ({ signatureScript }) => contractOf(lastPush(signatureScript) ?? signatureScript)?.name ?? [],
    );
  });
  expect(new Set(revealed)).toEqual(new Set(CONTRACTS.filter(({ isBare }) => !isBare).map(({ name }) => name)));
  const transactions = accepted.map(({ transaction }) => transaction);
  expect(transactions.some(({ outputs }) => outputs.some((output) => isBareState(output.scriptPublicKey.script)))).toBe(
    true,
  );
  expect(
    new Set(transactions.flatMap(({ subnetworkId }) => laneNamespace(subnetworkId) ?? []).map(toHex)).size,
  ).toBeGreaterThan(4);
  const payloads = transactions
    .filter(({ inputs }) => inputs.length > 0)
    .map(({ payload }) => Buffer.from(payload).toString('latin1'));
  for (const start of ['{"p":"krc-20"', 'ciph_msg:1:', 'k:1:', 'kasplex', 'kaspa-file']) {
    expect(
      payloads.some((payload) => payload.startsWith(start)),
      start,
    ).toBe(true);
  }
});

function isBareState(script: Uint8Array): boolean {
  return contractOf(script)?.isBare === true && classifyScript({ version: 0, script }) === 'nonstandard';
}

test('the states of a contract are programs of it, and differ', () => {
  for (const contract of CONTRACTS) {
    const first = firstProgram(contract, new Random('state', contract.name));
    const next = nextProgram(contract, first, new Random('next', contract.name));
    expect(contractOf(first), contract.name).toBe(contract);
    expect(contractOf(next), contract.name).toBe(contract);
    const isConstant = contract.fields.every(({ kind }) => kind === 'constant');
    expect(toHex(next) === toHex(first), contract.name).toBe(isConstant);
    expect(toHex(first)).not.toBe(toHex(firstProgram(contract, new Random('other'))));
  }
});

const isStep = ({ transaction, spent }: Accepted): boolean =>
  transaction.inputs.some(({ signatureScript }, at) => {
    const program = lastPush(signatureScript);
    return spent[at] !== undefined && program !== undefined && contractOf(program) !== undefined;
  });

test('covenants continue after the network was restored from its blocks', () => {
  const network = smallSimulatedDag('restored applications', 200, {}, { applicationRate: 1 });
  const before = acceptedIn(network).length;
  const simulation = new Simulation(network.node, {
    ...DEFAULT_OPTIONS,
    seed: 'restored applications',
    applicationRate: 1,
  });
  growTo(300, { ...network, simulation });
  const later = acceptedIn(network).slice(before);
  expect(later.filter(isStep).length).toBeGreaterThan(20);
});
