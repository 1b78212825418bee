/** Listings of mempools that are as large as a node allows, encoded once. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { encodeAddress } from '@kasgres/kaspa';
import { encodeEntry } from '@kasgres/node';
import { randomBytes } from 'node:crypto';
import { network } from './static-node.ts';

/** A few transactions; 49,000 of them; 165 MB of large ones. */
export type MempoolKind = 'few' | 'many' | 'large';

/** The pages of a listing: one leaves the mempool, and another one enters it, every second. */
interface Pages {
  pages: readonly Buffer[];
  /** How many pages the mempool has at once. */
  shown: number;
  entriesPerPage: number;
}

const ENTRIES = 1;
const ADDRESS = 1;
const RECEIVING = 3;
/**
 * As messages of the node, which have scripts and addresses as texts, transactions of about 40 and
 * 90 kB.
 */
const LARGE_BYTES = 87_000;
const WIDE_BYTES = 187_000;
const SMALL_BYTES = 600;
const WIDE_TRANSACTIONS = 27;

export class EncodedMempool {
  kind: MempoolKind = 'few';
  readonly #pages: Readonly<Record<MempoolKind, Pages>> = {
    few: makePages({ bytes: SMALL_BYTES, entriesPerPage: 1, shown: 3, pages: 60 }),
    many: makePages({ bytes: SMALL_BYTES, entriesPerPage: 100, shown: 490, pages: 600 }),
    large: makePages({ bytes: LARGE_BYTES, entriesPerPage: 1, shown: 1_900, pages: 2_000 }),
  };
  /** The entries that pay each of many addresses. */
  readonly #receiving = pageOf(RECEIVING, makeEntry(WIDE_BYTES), WIDE_TRANSACTIONS);

  get size(): number {
    const { shown, entriesPerPage } = this.#pages[this.kind];
    return shown * entriesPerPage;
  }

  /** Returns the parts of a response to getMempoolEntries. */
  list(): Buffer[] {
    const { pages, shown } = this.#pages[this.kind];
    const first = Math.floor(performance.now() / 1_000);
    return Array.from({ length: shown }, (_, index) => pages[(first + index) % pages.length] ?? Buffer.alloc(0));
  }

  /**
   * Returns the parts of a response to getMempoolEntriesByAddresses; a node repeats a transaction
   * for each address that it pays.
   */
  listOf(addresses: readonly string[], arePaid: boolean): Uint8Array[] {
    const receiving = arePaid ? this.#receiving : Buffer.alloc(0);
    return addresses.flatMap((address) => {
      const named = new BinaryWriter().tag(ADDRESS, WireType.LengthDelimited).string(address).finish();
      const head = new BinaryWriter()
        .tag(ENTRIES, WireType.LengthDelimited)
        .uint32(named.length + receiving.length)
        .finish();
      return [head, named, receiving];
    });
  }
}

interface MadePages {
  /** The approximate size of an entry. */
  bytes: number;
  entriesPerPage: number;
  shown: number;
  pages: number;
}

function makePages({ bytes, entriesPerPage, shown, pages: count }: MadePages): Pages {
  const entry = makeEntry(bytes);
  const pages = Array.from({ length: count }, () => pageOf(ENTRIES, entry, entriesPerPage));
  return { pages, shown, entriesPerPage };
}

interface EncodedEntry {
  bytes: Uint8Array;
  /** Where its transaction id is, which is a text. */
  idAt: number;
}

/** Returns an entry with as many outputs as have this many bytes. */
function makeEntry(wantedBytes: number): EncodedEntry {
  const [one, two] = [1, 2].map((outputs) => encodeOutputs(outputs).bytes.length) as [number, number];
  return encodeOutputs(1 + Math.ceil((wantedBytes - one) / (two - one)));
}

function encodeOutputs(outputs: number): EncodedEntry {
  const id = randomBytes(32).toString('hex');
  const scripts = Array.from({ length: outputs }, () => randomBytes(32));
  const bytes = encodeEntry({
    fee: 1_000_000n,
    transaction: {
      inputs: [
        {
          previousOutpoint: { transactionId: randomBytes(32).toString('hex'), index: 0 },
          signatureScript: randomBytes(66).toString('hex'),
          sigOpCount: 1,
        },
      ],
      outputs: scripts.map((payload) => ({
        amount: 100_000_000n,
        scriptPublicKey: { version: 0, scriptPublicKey: `20${payload.toString('hex')}ac` },
        verboseData: {
          scriptPublicKeyType: 'pubkey',
          scriptPublicKeyAddress: encodeAddress({ prefix: network.addressPrefix, version: 0, payload }),
        },
      })),
      subnetworkId: '00'.repeat(20),
      verboseData: { transactionId: id, hash: randomBytes(32).toString('hex'), computeMass: 2_000n },
    },
  });
  return { bytes, idAt: Buffer.from(bytes).indexOf(id) };
}

/** Returns entries of a field, each with another id. */
function pageOf(field: number, { bytes, idAt }: EncodedEntry, count: number): Buffer {
  const entries = Array.from({ length: count }, () => {
    const entry = Buffer.from(bytes);
    entry.write(randomBytes(32).toString('hex'), idAt, 'latin1');
    return new BinaryWriter().tag(field, WireType.LengthDelimited).bytes(entry).finish();
  });
  return Buffer.concat(entries);
}
