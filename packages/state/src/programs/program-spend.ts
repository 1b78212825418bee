import type { TransactionKey } from '@kasgres/database';
import type { Hash, Sompi } from '@kasgres/kaspa';
import type { ProgramDescription } from '@kasgres/programs';
import type { Reveal } from '../reveals/reveal.ts';

/** A spend that is counted or uncounted. */
export interface ProgramSpend {
  hash: Hash;
  uses: number;
  transaction: TransactionKey;
  chainTime: bigint;
  fee: Sompi;
}

/** Whether a reveal makes a program: of a covenant, or with opcodes of a family. */
export function isOfProgram(
  { covenantId }: Pick<Reveal, 'covenantId'>,
  { uses }: Pick<ProgramDescription, 'uses'>,
): boolean {
  return covenantId !== undefined || uses !== 0;
}

export function spendOf(reveal: Reveal, { hash, uses }: ProgramDescription): ProgramSpend {
  const { transaction, fee, chainBlock } = reveal;
  return { hash, uses, transaction, fee, chainTime: chainBlock.chainTime };
}
