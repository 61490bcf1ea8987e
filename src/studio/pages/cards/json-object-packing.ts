import type { JsonObject, JsonValue } from "../../../protocol/index.ts";

/**
 * JSON objects in a compact format, with values grouped by column. Record lines have few distinct shapes, and
 * most members have the same value in every record line. The compact format stores repeated values once, so
 * the HTML report is smaller than the record file and loads faster.
 */
export interface PackedJsonObjects {
  readonly shapes: readonly JsonObjectShape[];
  /** For each packed row, the index of its row shape. */
  readonly order: readonly number[];
}

interface JsonObjectShape {
  /** Example row with every leaf value replaced by 0. Empty objects and arrays are part of the row shape. */
  readonly of: JsonValue;
  /** Columns of the leaf values, in the order of the row shape. */
  readonly columns: readonly PackedColumn[];
}

type JsonLeaf = string | number | boolean | null;

/**
 * Column of leaf values. A column stores one value for all rows, a list of distinct values with an index for
 * each row, or one value for each row.
 */
type PackedColumn =
  | { readonly all: JsonLeaf }
  | { readonly some: readonly JsonLeaf[]; readonly which: readonly number[] }
  | { readonly each: readonly JsonLeaf[] };

/** Packs JSON objects by column. */
export function packJsonObjects(rows: readonly object[]): PackedJsonObjects {
  const shapes = new Map<string, { at: number; of: JsonValue; columns: JsonLeaf[][] }>();
  const order = rows.map((row) => {
    const leaves: JsonLeaf[] = [];
    const of = splitJsonShapeAndLeaves(row as JsonValue, leaves);
    const key = JSON.stringify(of);
    let shape = shapes.get(key);
    if (!shape) shapes.set(key, (shape = { at: shapes.size, of, columns: leaves.map(() => []) }));
    for (const [at, leaf] of leaves.entries()) shape.columns[at]?.push(leaf);
    return shape.at;
  });
  return {
    shapes: [...shapes.values()].map(({ of, columns }) => ({ of, columns: columns.map(packLeafColumn) })),
    order,
  };
}

/** Unpacks JSON objects. Validation is unnecessary, because the same build packed the objects. */
export function unpackJsonObjects<Row extends object>({ shapes, order }: PackedJsonObjects): Row[] {
  const builders = shapes.map(({ of, columns }) => compileShape(of, columns.values()));
  const next = shapes.map(() => 0);
  return order.map((at) => {
    const row = next[at] ?? 0;
    next[at] = row + 1;
    return builders[at]?.(row) as Row;
  });
}

/** Builds the value of a row. */
type RowBuilder = (row: number) => JsonValue;

/** Compiles a shape once, because reading the names of its members again for each row takes most of the time. */
function compileShape(template: JsonValue | undefined, columns: Iterator<PackedColumn>): RowBuilder {
  if (Array.isArray(template)) {
    const items = template.map((item) => compileShape(item, columns));
    return (row) => items.map((build) => build(row));
  }
  if (typeof template !== "object" || template === null) {
    const { value: column } = columns.next() as IteratorResult<PackedColumn, undefined>;
    return (row) => getPackedColumnValue(column, row);
  }
  const members = Object.entries(template).map(
    ([name, value]) => [name, compileShape(value, columns)] as const,
  );
  // An assignment to `__proto__` changes the prototype of the object.
  if (Object.hasOwn(template, "__proto__"))
    return (row) => Object.fromEntries(members.map(([name, build]) => [name, build(row)]));
  return (row) => {
    const object: JsonObject = {};
    for (const [name, build] of members) object[name] = build(row);
    return object;
  };
}

function splitJsonShapeAndLeaves(value: JsonValue | undefined, leaves: JsonLeaf[]): JsonValue {
  if (Array.isArray(value)) return value.map((item) => splitJsonShapeAndLeaves(item, leaves));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      // JSON cannot represent `undefined`, so neither can a shape.
      Object.entries(value).flatMap(([name, item]) =>
        item === undefined ? [] : [[name, splitJsonShapeAndLeaves(item, leaves)]],
      ),
    );
  leaves.push(value ?? null);
  return 0;
}

function packLeafColumn(values: readonly JsonLeaf[]): PackedColumn {
  const places = new Map<JsonLeaf, number>();
  for (const value of values) if (!places.has(value)) places.set(value, places.size);
  const [first = null] = values;
  if (places.size <= 1) return { all: first };
  // Indexes pay off only if values repeat often. IDs do not repeat.
  if (places.size > values.length / 3 || typeof first !== "string") return { each: values };
  return { some: [...places.keys()], which: values.map((value) => places.get(value) ?? 0) };
}

function getPackedColumnValue(column: PackedColumn | undefined, row: number): JsonLeaf {
  if (!column) return null;
  if ("all" in column) return column.all;
  if ("each" in column) return column.each[row] ?? null;
  return column.some[column.which[row] ?? 0] ?? null;
}
