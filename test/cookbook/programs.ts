/**
 * The oracle of covenants and programs on the demo network: what its accepted transactions do to
 * covenants, and which programs they have.
 */
import { toHex } from '@kasgres/kaspa';
import {
  bareProgram,
  type CovenantEventKind,
  describeProgram,
  namesOfUses,
  type ProgramDescription,
  revealedProgram,
  type Use,
} from '@kasgres/programs';
import { type ChainBlock, type History, known, outpoint, sumOf, type Transaction, type Utxo } from './history.ts';

export interface CovenantEvent {
  covenantId: string;
  kind: CovenantEventKind;
  transaction: Transaction;
  acceptedBy: ChainBlock;
  spent: Utxo[];
  created: Utxo[];
  /** The template of the last program that its inputs reveal, if any. */
  template: string | undefined;
}

interface Spend {
  hash: string;
  template: string | undefined;
  uses: Use[];
  acceptedBy: ChainBlock;
}

interface Template {
  template: string;
  spends: number;
  programs: Set<string>;
  /** By chain time. */
  firstSeen: number;
}

const programOf = (utxo: Utxo, transaction: Transaction, input: number): Uint8Array | undefined =>
  revealedProgram(utxo.scriptPublicKey, known(transaction.body.inputs[input]).signatureScript);

/** Returns one event for each accepted transaction and covenant, in order. */
export function covenantEventsOf({ chain }: History): CovenantEvent[] {
  return chain.flatMap((acceptedBy) =>
    acceptedBy.accepted.flatMap((transaction) => {
      const [inputs, outputs] = [transaction.inputs.map(known), transaction.outputs];
      const ids = new Set([...inputs, ...outputs].flatMap(({ covenantId }) => covenantId ?? []));
      return [...ids].map((covenantId): CovenantEvent => {
        const isOfIt = (utxo: Utxo): boolean => utxo.covenantId === covenantId;
        const [spent, created] = [inputs.filter(isOfIt), outputs.filter(isOfIt)];
        const kind = spent.length === 0 ? 'genesis' : created.length === 0 ? 'burn' : 'transition';
        const templates = inputs.flatMap((utxo, input) => {
          const program = isOfIt(utxo) ? programOf(utxo, transaction, input) : undefined;
          return (program && describeProgram(program).template) ?? [];
        });
        const template = templates.at(-1);
        const about = { covenantId, kind, transaction, acceptedBy, spent, created } as const;
        return { ...about, template: template && toHex(template) };
      });
    }),
  );
}

/**
 * Returns each covenant with what its events leave. The demo network begins at genesis, so all are
 * complete.
 */
export function covenantsOf(events: readonly CovenantEvent[], { spentBy }: History) {
  return [...Map.groupBy(events, ({ covenantId }) => covenantId)].map(([covenantId, ofIt]) => {
    const live = ofIt.flatMap(({ created }) => created).filter((utxo) => !spentBy.has(outpoint(utxo)));
    return {
      covenantId,
      balance: sumOf(live),
      isLive: live.length > 0,
      firstSeen: known(ofIt[0]).acceptedBy.chainTime,
      lastSeen: known(ofIt.at(-1)).acceptedBy.chainTime,
      template: ofIt.findLast(({ template }) => template !== undefined)?.template,
    };
  });
}

/**
 * Returns the spends that reveal a program or spend a bare one, all hashes of programs with a
 * template, and the templates.
 */
export function programsOf({ chain }: History) {
  const spends: Spend[] = [];
  const templates = new Map<string, Template>();
  const templateOf = new Map<string, string>();
  const see = ({ hash, template }: ProgramDescription, { chainTime }: ChainBlock): void => {
    if (template === undefined) return;
    const name = toHex(template);
    const found = templates.get(name) ?? { template: name, spends: 0, programs: new Set(), firstSeen: chainTime };
    found.programs.add(toHex(hash));
    templates.set(name, found);
    templateOf.set(toHex(hash), name);
  };
  const spend = (description: ProgramDescription, acceptedBy: ChainBlock): void => {
    see(description, acceptedBy);
    const template = description.template && toHex(description.template);
    if (template !== undefined) known(templates.get(template)).spends += 1;
    spends.push({ hash: toHex(description.hash), template, uses: namesOfUses(description.uses), acceptedBy });
  };
  for (const acceptedBy of chain) {
    for (const transaction of acceptedBy.accepted) {
      for (const [input, spent] of transaction.inputs.entries()) {
        const utxo = known(spent);
        const bare = bareProgram(utxo.scriptPublicKey);
        const revealed = programOf(utxo, transaction, input);
        if (bare !== undefined) spend(describeProgram(bare), acceptedBy);
        if (revealed === undefined) continue;
        const description = describeProgram(revealed);
        if (utxo.covenantId !== undefined || description.uses !== 0) spend(description, acceptedBy);
      }
      for (const { scriptPublicKey } of transaction.outputs) {
        const bare = bareProgram(scriptPublicKey);
        if (bare !== undefined) see(describeProgram(bare), acceptedBy);
      }
    }
  }
  return { spends, templates: [...templates.values()], templateOf };
}
