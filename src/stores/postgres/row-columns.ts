import { encodeTextArray } from "./encode-text-array.ts";

type ColumnType = "int" | "bigint" | "boolean" | "text" | "uuid" | "timestamptz";

/** Names and types of the columns of rows that a statement receives as one array for each column. */
export type RowColumns = Readonly<Record<string, ColumnType>>;

interface ColumnValues {
  readonly int: number | null;
  readonly bigint: number | null;
  readonly boolean: boolean | null;
  readonly text: string | null;
  readonly uuid: string | null;
  /** Time in ISO 8601. */
  readonly timestamptz: string | null;
}

export type RowOf<Columns extends RowColumns> = {
  readonly [Name in keyof Columns]: ColumnValues[Columns[Name]];
};

/** Renders a table expression for rows whose first array is parameter `firstParameter`. */
export function renderRowsSql(columns: RowColumns, firstParameter: number): string {
  const arrays = Object.values(columns).map((type, at) => `$${firstParameter + at}::${type}[]`);
  return `unnest(${arrays.join(", ")}) AS given (${Object.keys(columns).join(", ")})`;
}

/** Encodes rows as one parameter for each column. */
export function encodeRows<Columns extends RowColumns>(
  columns: Columns,
  rows: readonly RowOf<Columns>[],
): unknown[] {
  return Object.entries(columns).map(([name, type]) => {
    const values = rows.map((row) => row[name]);
    return type === "text"
      ? encodeTextArray(values as (string | null)[])
      : formatArrayLiteral(values as (number | boolean | string | null)[]);
  });
}

/** Formats an array of numbers, booleans, UUIDs, or times, which need no escapes. */
function formatArrayLiteral(values: readonly (number | boolean | string | null)[]): string {
  return `{${values.map((value) => value ?? "NULL").join(",")}}`;
}
