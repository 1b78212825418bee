import { bareProgram } from '@kasgres/programs';
import type { Transaction } from '@kasgres/kaspa';
import { isNotable, possibleProgram } from '../reveals/candidates.ts';

/** Notes the uses that a first catch-up has seen, so that its end need not search all rows for what does not exist. */
export class FoundUses {
  covenants = false;
  /** Possible reveals of notable programs, and bare programs. */
  programs = false;

  see({ inputs, outputs }: Pick<Transaction, 'inputs' | 'outputs'>): void {
    for (const { covenant, scriptPublicKey } of outputs) {
      if (covenant !== undefined) this.covenants = true;
      this.programs ||= !isPublicKeyScript(scriptPublicKey.script) && bareProgram(scriptPublicKey) !== undefined;
    }
    if (this.programs) return;
    for (const { signatureScript } of inputs) {
      const program = possibleProgram(signatureScript);
      if (program !== undefined && isNotable(program)) this.programs = true;
    }
  }
}

/** Whether a script is that of most payments, which is seen without reading it. */
export function isPublicKeyScript(script: Uint8Array): boolean {
  return script.length === 34 && script[0] === 0x20 && script[33] === 0xac;
}
