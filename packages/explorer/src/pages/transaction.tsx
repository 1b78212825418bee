import { ApiError, type Schema } from '@kasgres/client';
import { useState } from 'preact/hooks';
import { Card, Facts, Load, Page } from '../components/page.tsx';
import { confirmationsOf, isCoinbase, Sides, type Transaction } from '../components/transfers.tsx';
import {
  AcceptanceBadge,
  Amount,
  CopyButton,
  HashLink,
  PlainHash,
  type TagsByAddress,
  Time,
} from '../components/values.tsx';
import { formatCount, formatRate, formatTime, shortHash, textOfHex } from '../format.ts';
import { Json, ProgramsCard, ProtocolsCard } from '../programs/transaction-uses.tsx';
import { getExact } from '../state/exact-json.ts';
import { serverNow } from '../state/clock.ts';
import { type Resource, useResource } from '../state/resource.ts';
import { outputSum } from './transactions.tsx';

const REFRESH_MS = 3000;
const LONG_PAYLOAD = 512;

/** Names of well-known subnetworks by id. */
const SUBNETWORKS: ReadonlyMap<string, string> = new Map([
  ['00'.repeat(20), 'native'],
  [`01${'00'.repeat(19)}`, 'coinbase'],
]);

interface Found {
  transaction: Transaction | Schema<'TransactionInMempool'>;
  tags: TagsByAddress;
  isPending: boolean;
  loadedAt: number;
}

const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404;

/** A transaction that is not indexed may be in the mempool. */
function useTransaction(transactionId: string): Resource<Found> {
  return useResource<Found>(
    `transaction ${transactionId}`,
    async (client) => {
      const path = { transactionId };
      try {
        const query = { include: 'tags,programs', include_payload: true } as const;
        const { transaction, tags = {} } = await getExact(client, '/v1/transactions/{transactionId}', {
          params: { path, query },
        });
        return { transaction, tags, isPending: false, loadedAt: serverNow() };
      } catch (error) {
        if (!isNotFound(error)) throw error;
        const query = { include: 'programs', include_payload: true } as const;
        const { transaction } = await getExact(client, '/v1/mempool/{transactionId}', { params: { path, query } })
          // The error of the index tells more than that of the mempool.
          .catch((reason: unknown) => Promise.reject(isNotFound(reason) ? error : reason));
        return { transaction, tags: {}, isPending: true, loadedAt: serverNow() };
      }
    },
    { refreshMs: REFRESH_MS },
  );
}

const isIndexed = (transaction: Found['transaction']): transaction is Transaction => transaction.blockTime !== null;

/**
 * Nodes measure fee rates by the larger mass. Transient mass needs the bytes of the transaction,
 * and is smaller for all but huge payloads.
 */
function feeRateOf({ mass, computeMass }: Found['transaction'], fee: string): number {
  return Number(fee) / Math.max(Number(mass), Number(computeMass), 1);
}

/** Says what the chain knows of a transaction that no indexed block accepts. */
function NotAccepted({ transaction }: Pick<Found, 'transaction'>) {
  const [block] = transaction.blockHashes;
  if (transaction.isAccepted) return <span class="muted">a block that is not indexed</span>;
  if (isCoinbase(transaction) && block !== undefined) return <Unpaid block={block} />;
  return <span class="muted">{isIndexed(transaction) ? 'no block' : 'no block yet'}</span>;
}

/**
 * The coinbase of a block off the chain pays nothing: what its miner earns is in that of the
 * merging block.
 */
function Unpaid({ block }: { block: string }) {
  const { data } = useResource(
    `reward of ${block}`,
    (client) =>
      client.get('/v1/blocks/{hash}', { params: { path: { hash: block }, query: { include_transactions: false } } }),
    { refreshMs: REFRESH_MS },
  );
  if (data === undefined) return <span class="muted">no block</span>;
  const { isChainBlock, mergingBlockHash, color, rewardTransactionId } = data.block;
  if (mergingBlockHash === null || isChainBlock) return <span class="muted">no block yet</span>;
  return (
    <span>
      pays nothing{color === 'red' && ', since its block is red'}
      {rewardTransactionId !== null && (
        <>
          ; the reward is in <HashLink kind="transaction" hash={rewardTransactionId} />
        </>
      )}
    </span>
  );
}

function Summary({ transaction }: Pick<Found, 'transaction'>) {
  const indexed = isIndexed(transaction) ? transaction : undefined;
  return (
    <Card title="Summary">
      <Facts
        facts={[
          [
            'Time',
            indexed === undefined ? (
              <span class="muted">in the mempool</span>
            ) : (
              <>
                <Time ms={indexed.blockTime} /> <span class="muted">{formatTime(indexed.blockTime)}</span>
              </>
            ),
          ],
          ['Confirmations', <span id="confirmations">{formatCount(indexed ? confirmationsOf(indexed) : 0)}</span>],
          [
            'Accepted by',
            transaction.acceptingBlockHash === null ? (
              <NotAccepted transaction={transaction} />
            ) : (
              <HashLink kind="block" hash={transaction.acceptingBlockHash} />
            ),
          ],
          [
            'In blocks',
            transaction.blockHashes.length === 0 ? (
              <span class="muted">none yet</span>
            ) : (
              <ul class="hashes">
                {transaction.blockHashes.map((hash) => (
                  <li key={hash}>
                    <HashLink kind="block" hash={hash} />
                  </li>
                ))}
                {transaction.blockCount > transaction.blockHashes.length && (
                  <li class="muted">{formatCount(transaction.blockCount - transaction.blockHashes.length)} more</li>
                )}
              </ul>
            ),
          ],
          ['Amount, KAS', <Amount sompi={outputSum(transaction)} />],
          [
            'Fee, KAS',
            transaction.fee === null ? <span class="muted">unknown</span> : <Amount sompi={transaction.fee} />,
          ],
          [
            'Fee rate',
            transaction.fee === null || isCoinbase(transaction) ? (
              <span class="muted">none</span>
            ) : (
              `${formatRate(feeRateOf(transaction, transaction.fee))} sompi per gram`
            ),
          ],
          ['Storage mass', formatCount(transaction.mass)],
        ]}
      />
    </Card>
  );
}

function Technical({ transaction }: Pick<Found, 'transaction'>) {
  const { payload = '', decodedPayload } = transaction;
  return (
    <Card title="Details">
      <Facts
        facts={[
          ['Hash', <PlainHash hash={transaction.hash} label="hash" />],
          ['Version', transaction.version],
          ['Subnetwork', SUBNETWORKS.get(transaction.subnetworkId) ?? <Subnetwork id={transaction.subnetworkId} />],
          ['Lock time', formatCount(transaction.lockTime)],
          ['Gas', formatCount(transaction.gas)],
          ['Compute mass', formatCount(transaction.computeMass)],
          payload !== '' && ['Payload', <Payload payload={payload} json={decodedPayload?.json} />],
        ]}
      />
    </Card>
  );
}

/**
 * A user lane is a namespace of four bytes, of which the last three are not all zero, and 16 zero
 * bytes.
 */
const USER_LANE = /^([0-9a-f]{2}(?!000000)[0-9a-f]{6})0{32}$/;

function Subnetwork({ id }: { id: string }) {
  const namespace = USER_LANE.exec(id)?.[1];
  if (namespace === undefined) return <PlainHash hash={id} label="subnetwork" />;
  return (
    <span>
      lane{' '}
      <a class="mono" href={`/lanes/${namespace}`}>
        {namespace}
      </a>
    </span>
  );
}

/** Payloads may be long: as JSON or text where they are, and in hex. */
function Payload({ payload, json }: { payload: string; json: unknown }) {
  const text = json == null ? textOfHex(payload) : undefined;
  return (
    <details>
      <summary>{formatCount(payload.length / 2 - 1)} bytes</summary>
      {json != null && <Json value={json} />}
      {text !== undefined && <bdi class="chain-text">{text}</bdi>}
      <span class="mono wrap">
        {payload.slice(0, LONG_PAYLOAD)}
        {payload.length > LONG_PAYLOAD && '…'} <CopyButton value={payload} label="payload" />
      </span>
    </details>
  );
}

function Hex({ value, label }: { value: string; label: string }) {
  if (value === '') return <span class="muted">empty</span>;
  return (
    <span class="mono wrap">
      {value} <CopyButton value={value} label={label} />
    </span>
  );
}

/** Scripts are rendered only once they are opened: a transaction may have a thousand. */
function Scripts({ transaction: { inputs, outputs } }: Pick<Found, 'transaction'>) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card>
      <details class="scripts" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Scripts and sequences</summary>
        {isOpen && (
          <>
            {inputs.map((input) => (
              <Facts
                key={input.index}
                facts={[
                  [`Input ${input.index}`, <Hex value={input.signatureScript} label="signature script" />],
                  ['Sequence', formatCount(input.sequence)],
                  input.computeBudget === undefined
                    ? ['Signature operations', formatCount(input.sigOpCount)]
                    : ['Compute budget', formatCount(input.computeBudget)],
                ]}
              />
            ))}
            {outputs.map((output) => (
              <Facts
                key={output.index}
                facts={[
                  [`Output ${output.index}`, <Hex value={output.scriptPublicKey} label="script public key" />],
                  ['Type', output.scriptPublicKeyType],
                  output.covenant !== undefined && [
                    'Covenant',
                    <HashLink kind="covenant" hash={output.covenant.covenantId} isLong />,
                  ],
                ]}
              />
            ))}
          </>
        )}
      </details>
    </Card>
  );
}

export function TransactionPage({ transactionId }: { transactionId: string }) {
  const resource = useTransaction(transactionId);
  const found = resource.data;
  return (
    <Page
      title={`Transaction ${shortHash(transactionId)}`}
      heading={
        <>
          Transaction{' '}
          {found !== undefined && isCoinbase(found.transaction) && <span class="badge quiet">coinbase</span>}
          {found !== undefined && (
            <AcceptanceBadge
              isAccepted={found.transaction.isAccepted}
              isPending={found.isPending}
              isCoinbase={isCoinbase(found.transaction)}
              blockTime={isIndexed(found.transaction) ? found.transaction.blockTime : null}
              loadedAt={found.loadedAt}
            />
          )}
          <span class="subject mono">
            {transactionId} <CopyButton value={transactionId} label="transaction id" />
          </span>
        </>
      }
    >
      <Load resource={resource} rows={16} notFound="No such transaction is indexed or pending.">
        {({ transaction, tags }) => (
          <>
            <div class="columns">
              <Summary transaction={transaction} />
              <Technical transaction={transaction} />
            </div>
            <Card title="Inputs and outputs, KAS">
              <Sides transaction={transaction} tags={tags} hasLinks />
            </Card>
            <ProtocolsCard protocols={transaction.protocols ?? []} />
            <ProgramsCard inputs={transaction.inputs} isAccepted={transaction.isAccepted} />
            <Scripts transaction={transaction} />
          </>
        )}
      </Load>
    </Page>
  );
}
