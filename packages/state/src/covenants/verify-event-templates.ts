/**
 * Compares the templates of covenant events with those that inputs reveal, while another
 * verification reads all reveals.
 */
import type { TransactionKey } from '@kasgres/database';
import { type Hash, toHex } from '@kasgres/kaspa';
import { getOrInsert } from '../state-changes.ts';
import type { Queryable } from '../queryable.ts';
import type { Reveal } from '../reveals/reveal.ts';

const MAX_FAULTS = 20;
const TRANSACTIONS_AT_ONCE = 5_000;

/** Before the latest bootstrap block, the covenants of spent outputs may not be known. */
const AFTER_BOOTSTRAP = 'chain_index > (select max(chain_index) from bootstrap_blocks)';

export class EventTemplates {
  readonly #db: Queryable;
  readonly #faults: string[] = [];
  /** The template of the last input that reveals one, by transaction and covenant. */
  #revealed = new Map<TransactionKey, Map<string, string>>();
  /** Events with a template whose transactions reveal one. */
  #found = 0;

  constructor(db: Queryable) {
    this.#db = db;
  }

  /** Reveals must come in the order of transactions and inputs. */
  async add({ transaction, covenantId }: Reveal, template: Hash | undefined): Promise<void> {
    if (covenantId === undefined || template === undefined) return;
    if (this.#revealed.size >= TRANSACTIONS_AT_ONCE && !this.#revealed.has(transaction)) await this.#compare();
    getOrInsert(this.#revealed, transaction, () => new Map<string, string>()).set(toHex(covenantId), toHex(template));
  }

  async finish(): Promise<string[]> {
    await this.#compare();
    const { rows } = await this.#db.query<{ count: number }>(
      `select count(*)::float8 as count from covenant_events where template_id is not null and ${AFTER_BOOTSTRAP}`,
    );
    const unfounded = (rows[0]?.count ?? 0) - this.#found;
    if (unfounded > 0) this.#faults.push(`${unfounded} covenant events have a template that no input reveals`);
    return this.#faults.slice(0, MAX_FAULTS);
  }

  async #compare(): Promise<void> {
    const revealed = this.#revealed;
    this.#revealed = new Map();
    if (revealed.size === 0) return;
    const { rows } = await this.#db.query<{ transaction: number; covenantId: string; template: string | null }>(
      `select e.transaction_id::float8 as transaction, encode(c.covenant_id, 'hex') as "covenantId",
        encode(t.template, 'hex') as template
         from covenant_events e
         join covenants c on c.id = e.covenant_id
         left join program_templates t on t.id = e.template_id
        where e.transaction_id = any($1::bigint[]) and ${AFTER_BOOTSTRAP}`,
      [[...revealed.keys()]],
    );
    for (const { transaction, covenantId, template } of rows) {
      const expected = revealed.get(transaction)?.get(covenantId) ?? null;
      if (template !== null) this.#found += 1;
      if (template === expected || this.#faults.length >= MAX_FAULTS) continue;
      this.#faults.push(
        `transaction ${transaction} reveals template ${expected} of covenant ${covenantId}, but its event says ${template}`,
      );
    }
  }
}
