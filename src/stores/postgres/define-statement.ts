/**
 * A SQL statement with the types of its parameters and rows. The connection prepares the statement under its name, so
 * two statements must not share a name.
 */
export interface PostgresStatement<Parameters extends readonly unknown[], Row> {
  readonly name: string;
  readonly text: string;
  /** Exists only in the type, and connects the statement with its parameters and rows. */
  readonly types?: { readonly parameters: Parameters; readonly row: Row };
}

/** Defines a statement. `text` has one placeholder (`$1`, `$2` …) for each element of `Parameters`. */
export function defineStatement<Parameters extends readonly unknown[], Row = never>(
  name: string,
  text: string,
): PostgresStatement<Parameters, Row> {
  return { name, text };
}
