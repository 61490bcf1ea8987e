import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { JsonObject, JsonValue } from "../protocol/index.ts";
import { checkEnd, endOf, type Kind } from "./kinds.ts";

/** Deeper JSON than this is refused, as it is in a request that comes as JSON. */
const MAX_DEPTH = 100;

/** `google.protobuf.Struct`: a JSON object. */
export const struct: Kind = {
  wire: WireType.LengthDelimited,
  empty: undefined,
  read: (reader) => readStruct(reader, 1),
  write: (writer, value) => writeStruct(writer, value as JsonObject),
};

/** `google.protobuf.Value`: any JSON value, null too. */
export const value: Kind = {
  wire: WireType.LengthDelimited,
  empty: undefined,
  read: (reader) => readValue(reader, 1),
  write: (writer, value) => writeValue(writer, value),
};

// Numbers of the members of `Value`.
const NULL = 1;
const NUMBER = 2;
const STRING = 3;
const BOOL = 4;
const STRUCT = 5;
const LIST = 6;

function readValue(reader: BinaryReader, depth: number): JsonValue {
  const end = endOf(reader);
  let value: JsonValue = null;
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (wire === WireType.LengthDelimited && number === STRING) value = reader.string(true);
    else if (wire === WireType.LengthDelimited && number === STRUCT) value = readStruct(reader, depth);
    else if (wire === WireType.LengthDelimited && number === LIST) value = readList(reader, depth);
    else if (wire === WireType.Bit64 && number === NUMBER) value = reader.double();
    else if (wire === WireType.Varint && number === BOOL) value = reader.bool();
    else {
      // `null_value` has only one value, so there is nothing to read of it.
      if (number === NULL) value = null;
      reader.skip(wire, number);
    }
  }
  checkEnd(reader, end);
  return value;
}

function readList(reader: BinaryReader, depth: number): JsonValue[] {
  checkDepth(depth);
  const end = endOf(reader);
  const items: JsonValue[] = [];
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (number === 1 && wire === WireType.LengthDelimited) items.push(readValue(reader, depth + 1));
    else reader.skip(wire, number);
  }
  checkEnd(reader, end);
  return items;
}

function readStruct(reader: BinaryReader, depth: number): JsonObject {
  checkDepth(depth);
  const end = endOf(reader);
  const members: JsonObject = {};
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (number === 1 && wire === WireType.LengthDelimited) {
      readEntry(reader, members, null, () => readValue(reader, depth + 1));
    } else reader.skip(wire, number);
  }
  checkEnd(reader, end);
  return members;
}

/** Reads an entry of a map with string keys into `members`. */
export function readEntry(
  reader: BinaryReader,
  members: Record<string, unknown>,
  missing: unknown,
  read: () => unknown,
): void {
  const end = endOf(reader);
  let key = "";
  let item = missing;
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (number === 1 && wire === WireType.LengthDelimited) key = reader.string(true);
    else if (number === 2 && wire === WireType.LengthDelimited) item = read();
    else reader.skip(wire, number);
  }
  checkEnd(reader, end);
  if (key !== "__proto__") members[key] = item;
  else
    Object.defineProperty(members, key, {
      value: item,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new RangeError(`JSON is nested deeper than ${MAX_DEPTH} levels; flatten it`);
}

/** Writes what `JSON.stringify` would: agents give data, and it is read as JSON in the other bindings. */
function writeValue(writer: BinaryWriter, given: unknown): void {
  const value = hasToJson(given) ? given.toJSON() : given;
  writer.fork();
  if (typeof value === "string") writer.tag(STRING, WireType.LengthDelimited).string(value);
  else if (typeof value === "number" && Number.isFinite(value))
    writer.tag(NUMBER, WireType.Bit64).double(value);
  else if (typeof value === "boolean") writer.tag(BOOL, WireType.Varint).bool(value);
  else if (Array.isArray(value)) writeList(writer.tag(LIST, WireType.LengthDelimited), value);
  else if (typeof value === "object" && value !== null)
    writeStruct(writer.tag(STRUCT, WireType.LengthDelimited), value);
  else writer.tag(NULL, WireType.Varint).int32(0);
  writer.join();
}

function writeList(writer: BinaryWriter, items: readonly unknown[]): void {
  writer.fork();
  for (const item of items) writeValue(writer.tag(1, WireType.LengthDelimited), item);
  writer.join();
}

function writeStruct(writer: BinaryWriter, members: object): void {
  writer.fork();
  for (const [key, item] of Object.entries(members) as [string, unknown][]) {
    if (item === undefined) continue;
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(key);
    writeValue(writer.tag(2, WireType.LengthDelimited), item);
    writer.join();
  }
  writer.join();
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  return (
    typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function"
  );
}
