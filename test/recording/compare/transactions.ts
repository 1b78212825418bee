/** Acceptance of every transaction seen so far, by 500 ids at a time; and the transactions themselves. */
import { toHex } from '@kasgres/kaspa';
import type { NodeClient } from '@kasgres/node';
import { chunks } from '../../node/compare/in-parallel.ts';
import { acceptedHashIn, compareTransactions, readTransactions } from '../../node/compare/rest-transactions.ts';
import { Findings, type Harness } from './harness.ts';

const MAX_IDS = 500;

export async function compareAcceptance({ node, api }: Harness): Promise<Findings> {
  const { dag } = node;
  const ids = [...dag.allBlocks()].flatMap(({ transactions }) =>
    transactions.map(({ transactionId }) => toHex(transactionId)),
  );
  const findings = new Findings();
  for (const transactionIds of chunks([...new Set(ids), 'ab'.repeat(32)], MAX_IDS)) {
    const answer = await api.post('/v1/transactions/acceptance', { transactionIds });
    const transactions = transactionIds.map((transactionId) => {
      const acceptingBlock = dag.findAcceptingBlock(transactionId);
      return {
        transactionId,
        isAccepted: acceptingBlock !== undefined,
        acceptingBlockHash: acceptingBlock?.hash ?? null,
        confirmations:
          acceptingBlock === undefined ? 0 : Number(dag.sink.header.blueScore - acceptingBlock.header.blueScore),
      };
    });
    findings.compare('acceptance', answer, { body: { transactions } });
  }
  return findings;
}

/** Each with its UTXOs, blocks, acceptance and spenders, as they follow from the recorded blocks and the recorded chain. */
export async function compareWholeTransactions({ node, api, pool }: Harness, client: NodeClient): Promise<Findings> {
  const transactions = await readTransactions(client, pool, acceptedHashIn(node.dag));
  const findings = new Findings();
  findings.add(await compareTransactions(api, transactions), transactions.ids.length);
  return findings;
}
