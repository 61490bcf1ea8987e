import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { JsonObject, JsonValue } from "../protocol/index.ts";
import { readLengthPrefixAndGetEndOffset, readFields, type FieldCodec } from "./field-codecs.ts";

/** Maximum nesting depth of JSON values, which is the same for all bindings. */
const MAX_JSON_DEPTH = 100;

/** Codec for `google.protobuf.Struct`, which is a JSON object. */
export const structCodec: FieldCodec = {
  wireType: WireType.LengthDelimited,
  emptyValue: undefined,
  read: (reader) => readStruct(reader, 1),
  write: (writer, value) => writeStruct(writer, value as JsonObject),
};

/** Codec for `google.protobuf.Value`, which is any JSON value, including `null`. */
export const jsonValueCodec: FieldCodec = {
  wireType: WireType.LengthDelimited,
  emptyValue: undefined,
  read: (reader) => readJsonValue(reader, 1),
  write: (writer, value) => writeJsonValue(writer, value),
};

// Field numbers of `google.protobuf.Value`.
const NULL_FIELD_NUMBER = 1;
const NUMBER_FIELD_NUMBER = 2;
const STRING_FIELD_NUMBER = 3;
const BOOL_FIELD_NUMBER = 4;
const STRUCT_FIELD_NUMBER = 5;
const LIST_FIELD_NUMBER = 6;

function readJsonValue(reader: BinaryReader, depth: number): JsonValue {
  let value: JsonValue = null;
  readFields(reader, readLengthPrefixAndGetEndOffset(reader), (number, wireType) => {
    if (wireType === WireType.LengthDelimited && number === STRING_FIELD_NUMBER) value = reader.string(true);
    else if (wireType === WireType.LengthDelimited && number === STRUCT_FIELD_NUMBER)
      value = readStruct(reader, depth);
    else if (wireType === WireType.LengthDelimited && number === LIST_FIELD_NUMBER)
      value = readListValue(reader, depth);
    else if (wireType === WireType.Bit64 && number === NUMBER_FIELD_NUMBER) value = reader.double();
    else if (wireType === WireType.Varint && number === BOOL_FIELD_NUMBER) value = reader.bool();
    else {
      // The enum of `null_value` has only one value, so its content is skipped.
      if (number === NULL_FIELD_NUMBER) value = null;
      return false;
    }
    return true;
  });
  return value;
}

function readListValue(reader: BinaryReader, depth: number): JsonValue[] {
  assertJsonDepth(depth);
  const items: JsonValue[] = [];
  readFields(reader, readLengthPrefixAndGetEndOffset(reader), (number, wireType) => {
    if (number !== 1 || wireType !== WireType.LengthDelimited) return false;
    items.push(readJsonValue(reader, depth + 1));
    return true;
  });
  return items;
}

function readStruct(reader: BinaryReader, depth: number): JsonObject {
  assertJsonDepth(depth);
  const members: JsonObject = {};
  readFields(reader, readLengthPrefixAndGetEndOffset(reader), (number, wireType) => {
    if (number !== 1 || wireType !== WireType.LengthDelimited) return false;
    readMapEntry(reader, members, null, () => readJsonValue(reader, depth + 1));
    return true;
  });
  return members;
}

/**
 * Reads one map entry with a string key and adds the entry to `members`. The parameter `defaultValue` is
 * the value of an entry that has only a key.
 */
export function readMapEntry(
  reader: BinaryReader,
  members: Record<string, unknown>,
  defaultValue: unknown,
  read: () => unknown,
): void {
  let key = "";
  let item = defaultValue;
  readFields(reader, readLengthPrefixAndGetEndOffset(reader), (number, wireType) => {
    if (wireType !== WireType.LengthDelimited || number > 2) return false;
    if (number === 1) key = reader.string(true);
    else item = read();
    return true;
  });
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
 * Writes a value in the same form as `JSON.stringify`, because agents may yield any data and the other
 * bindings send JSON.
 */
function writeJsonValue(writer: BinaryWriter, input: unknown): void {
  const value = hasToJsonMethod(input) ? input.toJSON() : input;
  writer.fork();
  if (typeof value === "string") writer.tag(STRING_FIELD_NUMBER, WireType.LengthDelimited).string(value);
  else if (typeof value === "number" && Number.isFinite(value))
    writer.tag(NUMBER_FIELD_NUMBER, WireType.Bit64).double(value);
  else if (typeof value === "boolean") writer.tag(BOOL_FIELD_NUMBER, WireType.Varint).bool(value);
  else if (Array.isArray(value))
    writeListValue(writer.tag(LIST_FIELD_NUMBER, WireType.LengthDelimited), value);
  else if (typeof value === "object" && value !== null)
    writeStruct(writer.tag(STRUCT_FIELD_NUMBER, WireType.LengthDelimited), value);
  else writer.tag(NULL_FIELD_NUMBER, WireType.Varint).int32(0);
  writer.join();
}

function writeListValue(writer: BinaryWriter, items: readonly unknown[]): void {
  writer.fork();
  for (const item of items) writeJsonValue(writer.tag(1, WireType.LengthDelimited), item);
  writer.join();
}

function writeStruct(writer: BinaryWriter, members: object): void {
  writer.fork();
  for (const [key, item] of Object.entries(members) as [string, unknown][]) {
    if (item === undefined) continue;
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(key);
    writeJsonValue(writer.tag(2, WireType.LengthDelimited), item);
    writer.join();
  }
  writer.join();
}

function hasToJsonMethod(value: unknown): value is { toJSON(): unknown } {
  return (
    typeof value === "object" && value !== null && "toJSON" in value && typeof value.toJSON === "function"
  );
}
