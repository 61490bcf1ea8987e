import type { JsonValue } from "../../protocol/index.ts";

/**
 * Rows of JSON, column by column. The lines of a record have a handful of shapes, and most of their members say the same
 * on every line: told once each, a recording is a fraction of its file, and `JSON.parse` has as much less to do.
 */
export interface PackedRows {
  readonly shapes: readonly RowShape[];
  /** The shape of each row. */
  readonly order: readonly number[];
}

interface RowShape {
  /** A row of this shape with 0 for every leaf; empty objects and lists are part of the shape. */
  readonly of: JsonValue;
  /** The leaves, in the order in which they stand in the shape. */
  readonly columns: readonly PackedColumn[];
}

type JsonLeaf = string | number | boolean | null;

/** One value for all rows, a few values and which of them it is, or a value for each row. */
type PackedColumn =
  | { readonly all: JsonLeaf }
  | { readonly some: readonly JsonLeaf[]; readonly which: readonly number[] }
  | { readonly each: readonly JsonLeaf[] };

export function packRows(rows: readonly object[]): PackedRows {
  const shapes = new Map<string, { at: number; of: JsonValue; columns: JsonLeaf[][] }>();
  const order = rows.map((row) => {
    const leaves: JsonLeaf[] = [];
    const of = extractShape(row as JsonValue, leaves);
    const key = JSON.stringify(of);
    let shape = shapes.get(key);
    if (!shape) shapes.set(key, (shape = { at: shapes.size, of, columns: leaves.map(() => []) }));
    for (const [at, leaf] of leaves.entries()) shape.columns[at]?.push(leaf);
    return shape.at;
  });
  return {
    shapes: [...shapes.values()].map(({ of, columns }) => ({ of, columns: columns.map(packColumn) })),
    order,
  };
}

/** The rows as they were packed. The caller says what they are, because the same build of ours has packed them. */
export function unpackRows<Row extends object>({ shapes, order }: PackedRows): Row[] {
  const next = shapes.map(() => 0);
  return order.map((at) => {
    const shape = shapes[at];
    const row = next[at] ?? 0;
    next[at] = row + 1;
    let column = 0;
    const fill = (of: JsonValue | undefined): JsonValue => {
      if (Array.isArray(of)) return of.map(fill);
      if (typeof of === "object" && of !== null)
        return Object.fromEntries(Object.entries(of).map(([name, value]) => [name, fill(value)]));
      return unpackLeaf(shape?.columns[column++], row);
    };
    return fill(shape?.of) as Row;
  });
}

function extractShape(value: JsonValue | undefined, leaves: JsonLeaf[]): JsonValue {
  if (Array.isArray(value)) return value.map((item) => extractShape(item, leaves));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      // What is undefined has no place in JSON, so neither in a shape.
      Object.entries(value).flatMap(([name, item]) =>
        item === undefined ? [] : [[name, extractShape(item, leaves)]],
      ),
    );
  leaves.push(value ?? null);
  return 0;
}

function packColumn(values: readonly JsonLeaf[]): PackedColumn {
  const places = new Map<JsonLeaf, number>();
  for (const value of values) if (!places.has(value)) places.set(value, places.size);
  const [first = null] = values;
  if (places.size <= 1) return { all: first };
  // Worth it only where a value comes back often; ids do not.
  if (places.size > values.length / 3 || typeof first !== "string") return { each: values };
  return { some: [...places.keys()], which: values.map((value) => places.get(value) ?? 0) };
}

function unpackLeaf(column: PackedColumn | undefined, row: number): JsonLeaf {
  if (!column) return null;
  if ("all" in column) return column.all;
  if ("each" in column) return column.each[row] ?? null;
  return column.some[column.which[row] ?? 0] ?? null;
}
