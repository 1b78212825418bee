/** Transactions with their inputs and outputs: in full, and as rows of a list. */
import type { Schema } from '@kasgres/client';
import { Amount, AddressLink, CopyButton, HashLink, type TagsByAddress, Time } from './values.tsx';
import { formatCount } from '../format.ts';
import { sinkBlueScore } from '../stream/stream.ts';
import { AcceptanceBadge } from './values.tsx';
import { shortHash } from '../format.ts';
import { useEffect } from 'preact/hooks';

export type Transaction = Schema<'RestTransaction'>;
type Mempooled = Schema<'TransactionInMempool'>;

export const isCoinbase = ({ inputs, subnetworkId }: Pick<Transaction, 'inputs' | 'subnetworkId'>): boolean =>
  inputs.length === 0 && subnetworkId.startsWith('01');

/** Returns the confirmations as of the last chain block of the stream. */
export function confirmationsOf({ isAccepted, acceptingBlockBlueScore, confirmations }: Transaction): number {
  if (!isAccepted) return 0;
  if (acceptingBlockBlueScore === null || sinkBlueScore.value === undefined) return confirmations;
  return Math.max(confirmations, sinkBlueScore.value - Number(acceptingBlockBlueScore));
}

interface SidesProps {
  transaction: Transaction | Mempooled;
  tags: TagsByAddress;
  /** Each side shows this many; undefined: all. */
  limit?: number;
  /** The address whose page this is. */
  own?: string | undefined;
  /** Links inputs with the outputs that they spend, and outputs with their spenders. */
  hasLinks?: boolean;
}

/** The element of an output, to which inputs link. */
const outputId = (index: number): string => `output-${index}`;

/** Outputs of a transaction that was not accepted do not exist. */
function Spending({
  isAccepted,
  spentBy,
  isPending,
}: {
  isAccepted: boolean;
  spentBy: string | null;
  isPending: boolean;
}) {
  if (spentBy !== null) {
    return (
      <a class="spent" href={`/transactions/${spentBy}`} title={`Spent by ${spentBy}`}>
        spent
      </a>
    );
  }
  if (isAccepted) return <span class="spent muted">unspent</span>;
  return <span class="spent muted">{isPending ? 'pending' : 'pays nothing'}</span>;
}

interface Bound {
  covenant?: { covenantId: string } | undefined;
  covenantEvent?: string | null | undefined;
}

/** The covenant of an output, with the event that created it if that is known. */
function CovenantBadge({ covenant, covenantEvent }: Bound) {
  if (covenant === undefined) return null;
  const { covenantId } = covenant;
  return (
    <a class="badge covenant" href={`/covenants/${covenantId}`} title={`Bound to covenant ${covenantId}`}>
      {covenantEvent == null ? 'covenant' : `covenant, ${covenantEvent}`}
    </a>
  );
}

export function Sides({ transaction, tags, limit = Number.POSITIVE_INFINITY, own, hasLinks = false }: SidesProps) {
  const { inputs, outputs, isAccepted } = transaction;
  // The element exists only now.
  useEffect(() => {
    if (hasLinks && location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }, [transaction.transactionId]);
  const ownClass = (address: string | null): string => (address !== null && address === own ? 'own' : '');
  // Browsers match :target only when they load the document.
  const target = hasLinks ? location.hash.slice(1) : '';
  const more = (count: number) =>
    count > limit && (
      <li class="muted">
        <a href={`/transactions/${transaction.transactionId}`}>{formatCount(count - limit)} more</a>
      </li>
    );
  return (
    <div class="sides">
      <ol aria-label="Inputs">
        {inputs.length === 0 && <li class="muted">Newly minted</li>}
        {inputs.slice(0, limit).map(({ previousOutput, transactionId, index }) => (
          <li key={`${transactionId}:${index}`} class={ownClass(previousOutput.scriptPublicKeyAddress)}>
            {hasLinks && previousOutput.amount !== null && (
              <a
                class="mono outpoint"
                href={`/transactions/${previousOutput.transactionId}#${outputId(previousOutput.index)}`}
                title={`Output ${previousOutput.index} of ${previousOutput.transactionId}`}
              >
                {shortHash(previousOutput.transactionId)}:{previousOutput.index}
              </a>
            )}
            {previousOutput.amount === null ? (
              <span class="value">
                <a
                  class="mono"
                  href={`/transactions/${previousOutput.transactionId}#${outputId(previousOutput.index)}`}
                  title={previousOutput.transactionId}
                >
                  {shortHash(previousOutput.transactionId)}:{previousOutput.index}
                </a>
                <CopyButton value={previousOutput.transactionId} label="transaction id" />
              </span>
            ) : (
              <AddressLink
                address={previousOutput.scriptPublicKeyAddress}
                tag={tags[previousOutput.scriptPublicKeyAddress ?? '']}
              />
            )}
            {previousOutput.amount === null ? (
              <span class="muted">unknown</span>
            ) : (
              <Amount sompi={previousOutput.amount} />
            )}
          </li>
        ))}
        {more(inputs.length)}
      </ol>
      <span class="arrow" aria-hidden="true">
        →
      </span>
      <ol aria-label="Outputs">
        {outputs.slice(0, limit).map(({ index, scriptPublicKeyAddress, amount, spentBy, isSpent, ...output }) => (
          <li
            key={index}
            id={hasLinks ? outputId(index) : undefined}
            class={outputId(index) === target ? 'target' : ownClass(scriptPublicKeyAddress)}
          >
            {hasLinks && <span class="mono muted outpoint">{index}</span>}
            <AddressLink address={scriptPublicKeyAddress} tag={tags[scriptPublicKeyAddress ?? '']} />
            <CovenantBadge {...output} />
            {hasLinks && (
              <Spending
                isAccepted={isAccepted}
                spentBy={isSpent ? spentBy : null}
                isPending={transaction.blockTime === null}
              />
            )}
            <Amount sompi={amount} />
          </li>
        ))}
        {outputs.length === 0 && <li class="muted">No outputs</li>}
        {more(outputs.length)}
      </ol>
    </div>
  );
}

interface ListProps {
  transactions: readonly (Transaction & { balanceChange?: string })[];
  /** When the transactions were loaded. */
  loadedAt: number;
  tags?: TagsByAddress | undefined;
  empty: string;
  own?: string;
}

export function TransactionList({ transactions, loadedAt, tags = {}, empty, own }: ListProps) {
  if (transactions.length === 0) return <p class="empty">{empty}</p>;
  return (
    <ul class="transactions">
      {transactions.map((transaction) => (
        <li key={transaction.transactionId}>
          <header>
            <HashLink kind="transaction" hash={transaction.transactionId} />
            {isCoinbase(transaction) && <span class="badge quiet">coinbase</span>}
            <AcceptanceBadge
              isAccepted={transaction.isAccepted}
              isCoinbase={isCoinbase(transaction)}
              blockTime={transaction.blockTime}
              loadedAt={loadedAt}
            />
            <Time ms={transaction.blockTime} />
            {transaction.balanceChange !== undefined && (
              <span class="change">
                <Amount sompi={transaction.balanceChange} isSigned />
              </span>
            )}
          </header>
          <Sides transaction={transaction} tags={tags} limit={4} own={own} />
        </li>
      ))}
    </ul>
  );
}
