import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { JsonObject, JsonValue } from "../protocol/index.ts";
import { assertAtEndOffset, readEndOffset, type FieldCodec } from "./field-codecs.ts";

/** Maximum nesting depth of JSON values, as in requests over the other bindings. */
const MAX_JSON_DEPTH = 100;

/** Codec for `google.protobuf.Struct`: a JSON object. */
export const structCodec: FieldCodec = {
  wireType: WireType.LengthDelimited,
  emptyValue: undefined,
  read: (reader) => readStruct(reader, 1),
  write: (writer, value) => writeStruct(writer, value as JsonObject),
};

/** Codec for `google.protobuf.Value`: any JSON value, including `null`. */
export const valueCodec: FieldCodec = {
  wireType: WireType.LengthDelimited,
  emptyValue: undefined,
  read: (reader) => readValue(reader, 1),
  write: (writer, value) => writeValue(writer, value),
};

// Field numbers of `google.protobuf.Value`.
const NULL_FIELD_NUMBER = 1;
const NUMBER_FIELD_NUMBER = 2;
const STRING_FIELD_NUMBER = 3;
const BOOL_FIELD_NUMBER = 4;
const STRUCT_FIELD_NUMBER = 5;
const LIST_FIELD_NUMBER = 6;

function readValue(reader: BinaryReader, depth: number): JsonValue {
  const end = readEndOffset(reader);
  let value: JsonValue = null;
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (wire === WireType.LengthDelimited && number === STRING_FIELD_NUMBER) value = reader.string(true);
    else if (wire === WireType.LengthDelimited && number === STRUCT_FIELD_NUMBER)
      value = readStruct(reader, depth);
    else if (wire === WireType.LengthDelimited && number === LIST_FIELD_NUMBER)
      value = readList(reader, depth);
    else if (wire === WireType.Bit64 && number === NUMBER_FIELD_NUMBER) value = reader.double();
    else if (wire === WireType.Varint && number === BOOL_FIELD_NUMBER) value = reader.bool();
    else {
      // The enum of `null_value` has only one value, so its content is skipped.
      if (number === NULL_FIELD_NUMBER) value = null;
      reader.skip(wire, number);
    }
  }
  assertAtEndOffset(reader, end);
  return value;
}

function readList(reader: BinaryReader, depth: number): JsonValue[] {
  assertJsonDepth(depth);
  const end = readEndOffset(reader);
  const items: JsonValue[] = [];
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (number === 1 && wire === WireType.LengthDelimited) items.push(readValue(reader, depth + 1));
    else reader.skip(wire, number);
  }
  assertAtEndOffset(reader, end);
  return items;
}

function readStruct(reader: BinaryReader, depth: number): JsonObject {
  assertJsonDepth(depth);
  const end = readEndOffset(reader);
  const members: JsonObject = {};
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (number === 1 && wire === WireType.LengthDelimited) {
      readMapEntry(reader, members, null, () => readValue(reader, depth + 1));
    } else reader.skip(wire, number);
  }
  assertAtEndOffset(reader, end);
  return members;
}

/**
 * Reads one map entry with a string key into `members`. `defaultValue` is the value of an entry that has only a
 * key.
 */
export function readMapEntry(
  reader: BinaryReader,
  members: Record<string, unknown>,
  defaultValue: unknown,
  read: () => unknown,
): void {
  const end = readEndOffset(reader);
  let key = "";
  let item = defaultValue;
  while (reader.pos < end) {
    const [number, wire] = reader.tag();
    if (number === 1 && wire === WireType.LengthDelimited) key = reader.string(true);
    else if (number === 2 && wire === WireType.LengthDelimited) item = read();
    else reader.skip(wire, number);
  }
  assertAtEndOffset(reader, end);
  if (key !== "__proto__") members[key] = item;
  else
    Object.defineProperty(members, key, {
      value: item,
      enumerable: true,
      configurable: true,
      writable: true,
    });
}

function assertJsonDepth(depth: number): void {
  if (depth > MAX_JSON_DEPTH)
    throw new RangeError(`JSON is nested deeper than ${MAX_JSON_DEPTH} levels; flatten it`);
}

/**
 * Writes a value as `JSON.stringify` would serialize it, because agents may yield any data and the other
 * bindings send JSON.
 */
function writeValue(writer: BinaryWriter, input: unknown): void {
  const value = hasToJsonMethod(input) ? input.toJSON() : input;
  writer.fork();
  if (typeof value === "string") writer.tag(STRING_FIELD_NUMBER, WireType.LengthDelimited).string(value);
  else if (typeof value === "number" && Number.isFinite(value))
    writer.tag(NUMBER_FIELD_NUMBER, WireType.Bit64).double(value);
  else if (typeof value === "boolean") writer.tag(BOOL_FIELD_NUMBER, WireType.Varint).bool(value);
  else if (Array.isArray(value)) writeList(writer.tag(LIST_FIELD_NUMBER, WireType.LengthDelimited), value);
  else if (typeof value === "object" && value !== null)
    writeStruct(writer.tag(STRUCT_FIELD_NUMBER, WireType.LengthDelimited), value);
  else writer.tag(NULL_FIELD_NUMBER, WireType.Varint).int32(0);
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

function hasToJsonMethod(value: unknown): value is { toJSON(): unknown } {
  return (
    typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function"
  );
}
