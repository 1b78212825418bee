/** Asks Postgres for the types of a statement's parameters and columns, by the extended protocol and without running it. */
import type { ClientBase, Submittable } from 'pg';

export interface Description {
  /** Names of Postgres types: `int8`, `_text`. */
  parameters: string[];
  columns: Map<string, string>;
}

/** The part of the connection that `pg` hands to a Submittable; pg-cursor and pg-copy-streams rest on it, too. */
interface ProtocolConnection {
  parse(query: { text: string; name: string; types: [] }): void;
  describe(message: { type: 'S'; name: string }): void;
  sync(): void;
  once(event: 'parameterDescription', listener: (message: { dataTypeIDs: number[] }) => void): void;
}

/** Throws what Postgres says if the statement does not compile. */
export async function describeStatement(
  client: ClientBase,
  text: string,
  typeNames: ReadonlyMap<number, string>,
): Promise<Description> {
  const { parameters, columns } = await new Promise<{ parameters: number[]; columns: [string, number][] }>(
    (resolve, reject) => {
      const described: { parameters: number[]; columns: [string, number][] } = { parameters: [], columns: [] };
      client.query({
        submit: (connection: unknown) => {
          const protocol = connection as ProtocolConnection;
          protocol.once('parameterDescription', ({ dataTypeIDs }) => (described.parameters = dataTypeIDs));
          protocol.parse({ text, name: '', types: [] });
          protocol.describe({ type: 'S', name: '' });
          protocol.sync();
        },
        handleRowDescription: ({ fields }: { fields: { name: string; dataTypeID: number }[] }) => {
          described.columns = fields.map(({ name, dataTypeID }) => [name, dataTypeID]);
        },
        handleError: reject,
        handleReadyForQuery: () => resolve(described),
      } as Submittable);
    },
  );
  const nameOf = (type: number): string => typeNames.get(type) ?? String(type);
  return { parameters: parameters.map(nameOf), columns: new Map(columns.map(([name, type]) => [name, nameOf(type)])) };
}
