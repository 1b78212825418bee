/** Types of the package, which has none. */
declare module 'pgpass' {
  export interface PasswordTarget {
    host: string;
    port: number;
    database: string;
    user: string;
  }

  /** Reads PGPASSFILE or ~/.pgpass. */
  export default function pgpass(target: PasswordTarget, callback: (password: string | undefined) => void): void;
}
