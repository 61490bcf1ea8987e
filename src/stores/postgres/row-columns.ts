import { encodeIdentifier } from "./encode-identifier.ts";
import { encodeTextArray } from "./encode-text-array.ts";

/** Texts can contain any character. The type `json` is a text that needs no encoding. */
type ColumnType = "json" | "int" | "bigint" | "boolean" | "text" | "uuid" | "timestamptz";

/** Names and types of the columns of rows that a statement receives as one array for each column. */
type RowColumns = Readonly<Record<string, ColumnType>>;

interface ColumnValues {
  readonly json: string | null;
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
  const arrays = Object.values(columns).map(
    (type, at) => `$${firstParameter + at}::${type === "json" ? "text" : type}[]`,
  );
  return `unnest(${arrays.join(", ")}) AS given (${Object.keys(columns).join(", ")})`;
}

/** Encodes rows as one parameter for each column. */
export function encodeRows<Columns extends RowColumns>(
  columns: Columns,
  rows: readonly RowOf<Columns>[],
): unknown[] {
  return Object.entries(columns).map(([name, type]) => {
    const values = rows.map((row) => row[name]);
    if (type === "json") return encodeTextArray(values as (string | null)[]);
    if (type !== "text") return formatArrayLiteral(values as (number | boolean | string | null)[]);
    return encodeTextArray(
      values.map((value) => (value === null ? null : encodeIdentifier(value as string))),
    );
  });
}

/** Formats an array of numbers, booleans, UUIDs, or times, which need no escapes. */
function formatArrayLiteral(values: readonly (number | boolean | string | null)[]): string {
  return `{${values.map((value) => value ?? "NULL").join(",")}}`;
}
