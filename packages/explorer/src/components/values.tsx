/**
 * Values as every page shows them: hashes and addresses with a copy button, amounts with aligned
 * decimals, relative times.
 */
import type { Schema } from '@kasgres/client';
import { useEffect, useState } from 'preact/hooks';
import { escapeUnseen, formatAge, formatKas, formatTime, shortAddress, shortHash, splitAmount } from '../format.ts';
import { now } from '../state/clock.ts';
import { copyText } from './clipboard.ts';

export type TagsByAddress = Readonly<Record<string, Schema<'AddressTag'>>>;

const COPIED_MS = 1500;

export function CopyButton({ value, label }: { value: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  useEffect(() => {
    if (!isCopied) return undefined;
    const timer = setTimeout(() => setCopied(false), COPIED_MS);
    return () => clearTimeout(timer);
  }, [isCopied]);
  return (
    <button
      type="button"
      class="copy"
      aria-label={isCopied ? 'Copied' : `Copy ${label}`}
      title={isCopied ? 'Copied' : `Copy ${label}`}
      onClick={() => void copyText(value).then(() => setCopied(true))}
    >
      <svg viewBox="0 0 16 16" aria-hidden="true">
        {isCopied ? <path d="M3 8.5l3.2 3.2L13 5" /> : <path d="M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z" />}
      </svg>
    </button>
  );
}

interface HashProps {
  kind: 'block' | 'transaction' | 'covenant' | 'program' | 'template';
  hash: string;
  /** Shows all characters. */
  isLong?: boolean;
}

export function HashLink({ kind, hash, isLong = false }: HashProps) {
  return (
    <span class={isLong ? 'value long' : 'value'}>
      <a class="mono" href={`/${kind}s/${hash}`} title={isLong ? undefined : hash}>
        {isLong ? hash : shortHash(hash)}
      </a>
      <CopyButton value={hash} label={`${kind} ${shortHash(hash)}`} />
    </span>
  );
}

export function PlainHash({ hash, label }: { hash: string; label: string }) {
  return (
    <span class="value long">
      <span class="mono">{hash}</span>
      <CopyButton value={hash} label={label} />
    </span>
  );
}

type Tag = Pick<Schema<'AddressTag'>, 'name' | 'isGuessed'>;

interface AddressProps {
  address: string | null;
  tag?: Tag | null | undefined;
  isLong?: boolean;
  canCopy?: boolean;
}

export function AddressLink({ address, tag, isLong = false, canCopy = isLong }: AddressProps) {
  if (address === null) return <span class="muted">no address</span>;
  return (
    <span class={isLong ? 'value long' : 'value'}>
      <a href={`/addresses/${address}`} title={address}>
        {tag != null && <Name tag={tag} />}
        <span class="mono">{isLong ? address : shortAddress(address)}</span>
      </a>
      {canCopy && <CopyButton value={address} label={`address ${shortAddress(address)}`} />}
    </span>
  );
}

const GUESSED = 'Guessed: another address of its cluster has this name';

function Name({ tag: { name, isGuessed } }: { tag: Tag }) {
  return isGuessed ? (
    <i class="name guessed" title={GUESSED}>
      {name}?{' '}
    </i>
  ) : (
    <span class="name">{name} </span>
  );
}

/**
 * Trailing zeros are not shown. In columns they take their space, so that amounts align at the
 * decimal point.
 */
export function Amount({ sompi, isSigned = false }: { sompi: string | bigint; isSigned?: boolean }) {
  const { sign, kas, fraction } = splitAmount(sompi);
  const decimals = fraction.replace(/0+$/, '');
  const zeros = fraction.slice(decimals.length);
  const isPositive = isSigned && BigInt(sompi) > 0n;
  const tone = !isSigned ? '' : isPositive ? ' positive' : sign === '' ? '' : ' negative';
  return (
    <span class={`amount${tone}`} title={formatKas(sompi)}>
      {isPositive ? '+' : sign}
      {kas}
      <span class="fraction">
        {decimals !== '' && `.${decimals}`}
        {zeros !== '' && (
          <span class="zeros" aria-hidden="true">
            {decimals === '' && '.'}
            {zeros}
          </span>
        )}
      </span>
    </span>
  );
}

export function Time({ ms }: { ms: number | null }) {
  if (ms === null) return <span class="muted">unknown</span>;
  return (
    <time dateTime={new Date(ms).toISOString()} title={formatTime(ms)}>
      {formatAge(ms, now.value)}
    </time>
  );
}

/** An address with its name beside it, or below it where space is short. */
export function NamedAddress({ address, tag }: { address: string | null; tag: Schema<'AddressTag'> | null }) {
  return (
    <span class="named">
      <AddressLink address={address} canCopy />
      <TagBadge tag={tag} />
    </span>
  );
}

export function TagBadge({ tag }: { tag: Schema<'AddressTag'> | null }) {
  if (tag === null) return null;
  const { name, isGuessed } = tag;
  return (
    <a
      class={isGuessed ? 'badge guessed' : 'badge'}
      title={isGuessed ? GUESSED : undefined}
      href={`/tags/${encodeURIComponent(name)}`}
    >
      {name}
      {isGuessed && '?'}
    </a>
  );
}

const MAX_CHAIN_TEXT = 2_000;

/**
 * A text that somebody wrote into the chain. It has its own direction, so that it does not reorder
 * what is beside it.
 */
export function ChainText({ text }: { text: string }) {
  const shown = text.length > MAX_CHAIN_TEXT ? `${text.slice(0, MAX_CHAIN_TEXT)}…` : text;
  return <bdi class="chain-text">{escapeUnseen(shown)}</bdi>;
}

/** Some protocols have ids of 64 characters. */
const MAX_TICK = 32;

/** A tick or an operation in a table, on one line. */
export function ShortText({ text }: { text: string }) {
  const characters = Array.from(text);
  const isLong = characters.length > MAX_TICK;
  return (
    <span class="short-text" title={isLong ? escapeUnseen(text) : undefined}>
      <ChainText text={isLong ? `${characters.slice(0, 8).join('')}…${characters.slice(-6).join('')}` : text} />
    </span>
  );
}

export function Labels({ labels }: { labels: readonly string[] }) {
  return (
    <>
      {labels.map((label) => (
        <span class="badge quiet" key={label}>
          {label}
        </span>
      ))}
    </>
  );
}

interface BlockState {
  isChainBlock: boolean;
  color: 'blue' | 'red' | null;
}

export function BlockBadge({ isChainBlock, color }: BlockState) {
  if (isChainBlock) return <span class="badge chain">chain</span>;
  if (color === null) return <span class="badge quiet">not merged</span>;
  return <span class={`badge ${color}`}>{color}</span>;
}

interface Acceptance {
  isAccepted: boolean;
  isPending?: boolean;
  isCoinbase?: boolean;
  /** When its block was mined. */
  blockTime?: number | null;
  /** When `isAccepted` was loaded. */
  loadedAt: number;
}

/** The chain accepts a transaction some seconds after a block contains it. */
const USUALLY_ACCEPTED_MS = 60_000;

export function AcceptanceBadge({ isAccepted, isPending, isCoinbase, blockTime = null, loadedAt }: Acceptance) {
  if (isAccepted) return <span class="badge good">accepted</span>;
  if (isPending === true) return <span class="badge quiet">pending</span>;
  const isNew = blockTime !== null && loadedAt - blockTime < USUALLY_ACCEPTED_MS;
  if (isNew) return <span class="badge quiet">not accepted yet</span>;
  // Only coinbases of chain blocks are accepted.
  return <span class="badge quiet">{isCoinbase === true ? 'pays nothing' : 'not accepted'}</span>;
}
