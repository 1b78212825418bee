/** Families of opcodes that a program has. */
const TITLES: Readonly<Record<string, readonly [name: string, title: string]>> = {
  introspection: ['introspection', 'Reads the transaction that spends it'],
  covenants: ['covenants', 'Reads covenant ids'],
  sequencing: ['sequencing', 'Reads sequencing commitments'],
  groth16: ['Groth16', 'Verifies zero-knowledge proofs'],
  risc0: ['RISC Zero', 'Verifies zero-knowledge proofs'],
  unknownZk: ['zero knowledge', 'Verifies proofs of a system that the spender chooses'],
};

export function Uses({ uses }: { uses: readonly string[] }) {
  if (uses.length === 0) return <span class="muted">ordinary opcodes</span>;
  return (
    <>
      {uses.map((use) => {
        const [name, title] = TITLES[use] ?? [use, undefined];
        return (
          <span class="badge quiet" title={title} key={use}>
            {name}
          </span>
        );
      })}
    </>
  );
}
