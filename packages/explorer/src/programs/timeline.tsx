/** The events of a covenant, newest first, with what changed in its program from state to state. */
import type { Schema } from '@kasgres/client';
import { useState } from 'preact/hooks';
import { AddressLink, Amount, HashLink, Time } from '../components/values.tsx';
import { formatCount, shortHash } from '../format.ts';
import { describeError } from '../state/api.ts';
import { useResource } from '../state/resource.ts';
import { EventKind } from './covenant-parts.tsx';
import { changesBetween, entriesOf } from './differences.ts';
import { loadProgram, loadTemplate } from './load.ts';
import { PushValue, pushNamesOf, TemplateLink } from './names.tsx';

type CovenantEvent = Schema<'CovenantEvent'>;
type Input = CovenantEvent['inputs'][number];
type Program = NonNullable<Input['program']>;

/** A program may have 250 kB, so those of later events are compared on request. */
const COMPARED_AT_ONCE = 3;
const MOST_CHANGES = 50;
/** Shown of each side of an event. */
const MOST_SIDES = 8;

interface TimelineProps {
  events: readonly CovenantEvent[];
  /** The event before the last one, if there is one. */
  older: CovenantEvent | undefined;
}

export function Timeline({ events, older }: TimelineProps) {
  if (events.length === 0) {
    return <p class="empty">None of its events is in the indexed blocks.</p>;
  }
  const byTransaction = new Map([...events, ...(older ? [older] : [])].map((event) => [event.transactionId, event]));
  return (
    <ol class="timeline">
      {events.map((event, index) => (
        <li key={event.transactionId} class={event.kind}>
          <header>
            <EventKind kind={event.kind} />
            <HashLink kind="transaction" hash={event.transactionId} />
            <Time ms={event.timestamp} />
          </header>
          <Sides event={event} />
          <States event={event} byTransaction={byTransaction} isComparedAtOnce={index < COMPARED_AT_ONCE} />
        </li>
      ))}
    </ol>
  );
}

function Sides({ event: { inputs, outputs } }: { event: CovenantEvent }) {
  return (
    <div class="sides">
      <ol aria-label="Spent UTXOs of the covenant">
        {inputs.length === 0 && <li class="muted">No UTXOs of it before</li>}
        {inputs.slice(0, MOST_SIDES).map(({ index, previousOutput, amount }) => (
          <li key={index}>
            <a
              class="mono"
              href={`/transactions/${previousOutput.transactionId}#output-${previousOutput.index}`}
              title={`Output ${previousOutput.index} of ${previousOutput.transactionId}`}
            >
              {shortHash(previousOutput.transactionId)}:{previousOutput.index}
            </a>
            <Amount sompi={amount} />
          </li>
        ))}
        {inputs.length > MOST_SIDES && <li class="muted">{formatCount(inputs.length - MOST_SIDES)} more</li>}
      </ol>
      <span class="arrow" aria-hidden="true">
        →
      </span>
      <ol aria-label="Created UTXOs of the covenant">
        {outputs.length === 0 && <li class="muted">None: burned</li>}
        {outputs.slice(0, MOST_SIDES).map(({ index, amount, scriptPublicKeyAddress, spentBy }) => (
          <li key={index}>
            <AddressLink address={scriptPublicKeyAddress} />
            {spentBy === null ? (
              <span class="spent muted">unspent</span>
            ) : (
              <a class="spent" href={`/transactions/${spentBy}`} title={`Spent by ${spentBy}`}>
                spent
              </a>
            )}
            <Amount sompi={amount} />
          </li>
        ))}
        {outputs.length > MOST_SIDES && <li class="muted">{formatCount(outputs.length - MOST_SIDES)} more</li>}
      </ol>
    </div>
  );
}

interface StatesProps {
  event: CovenantEvent;
  byTransaction: ReadonlyMap<string, CovenantEvent>;
  isComparedAtOnce: boolean;
}

/** The states that the event spends, each once. */
function States({ event, byTransaction, isComparedAtOnce }: StatesProps) {
  const states = new Map<string, { program: Program; before: Program | undefined }>();
  for (const { program, previousOutput } of event.inputs) {
    if (program === null || states.has(program.hash)) continue;
    states.set(program.hash, {
      program,
      before: stateBefore(program, byTransaction.get(previousOutput.transactionId)),
    });
  }
  return (
    <>
      {[...states.values()].slice(0, MOST_SIDES).map(({ program, before }) => (
        <div class="state-of" key={program.hash}>
          <p class="row">
            <span class="muted">Spends the state of program</span>
            <HashLink kind="program" hash={program.hash} />
            {program.template !== null && (
              <>
                <span class="muted">of template</span>
                <TemplateLink template={program.template} />
              </>
            )}
          </p>
          {before !== undefined && <Changes before={before} after={program} isComparedAtOnce={isComparedAtOnce} />}
        </div>
      ))}
    </>
  );
}

/**
 * Returns the state that the event spent which created this one: of the same template, if it had
 * several.
 */
function stateBefore(program: Program, creator: CovenantEvent | undefined): Program | undefined {
  const spent = creator?.inputs.flatMap((input) => input.program ?? []) ?? [];
  return spent.find(({ template }) => template === program.template) ?? spent[0];
}

interface ChangesProps {
  before: Program;
  after: Program;
  isComparedAtOnce: boolean;
}

function Changes({ before, after, isComparedAtOnce }: ChangesProps) {
  const [isCompared, setCompared] = useState(isComparedAtOnce);
  if (before.hash === after.hash) return <p class="muted">The same program as before: its state did not change.</p>;
  if (before.template === null || before.template !== after.template) {
    return (
      <p class="row">
        <span class="muted">Another template than before, when it was</span>
        <HashLink kind="program" hash={before.hash} />
      </p>
    );
  }
  if (isCompared) return <ChangeTable before={before} after={after} template={before.template} />;
  return (
    <button type="button" class="link" onClick={() => setCompared(true)}>
      Show what changed
    </button>
  );
}

function ChangeTable({ before, after, template }: { before: Program; after: Program; template: string }) {
  const { data, error } = useResource(`changes from ${before.hash} to ${after.hash}`, async () => {
    const [old, now, known] = await Promise.all([
      loadProgram(before.hash),
      loadProgram(after.hash),
      loadTemplate(template),
    ]);
    if (old === undefined || now === undefined) return { changes: undefined, names: pushNamesOf([]) };
    return { changes: changesBetween(old, now), names: pushNamesOf(await entriesOf(now, known?.names ?? [])) };
  });
  if (error !== undefined) return <p class="muted">{describeError(error)}</p>;
  if (data === undefined) return <p class="muted">Comparing…</p>;
  const { changes, names } = data;
  if (changes === undefined) return <p class="muted">The bytes of these programs are no longer kept.</p>;
  return (
    <div class="table" role="region" aria-label={`Changes before ${shortHash(after.hash)}`} tabIndex={0}>
      <table class="changes">
        <caption class="hidden">Changed pushes of the program</caption>
        <thead>
          <tr>
            <th scope="col">Push</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {changes.slice(0, MOST_CHANGES).map((change) => {
            const named = names.get(change.push);
            return (
              <tr key={change.push}>
                <th scope="row">
                  {change.push}
                  {named !== undefined && <i class="name guessed"> {named.name}</i>}
                </th>
                <td>
                  <PushValue value={change.before} type={named?.type} />
                </td>
                <td>
                  <PushValue value={change.after} type={named?.type} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {changes.length > MOST_CHANGES && <p class="muted">{formatCount(changes.length - MOST_CHANGES)} more changed.</p>}
    </div>
  );
}
