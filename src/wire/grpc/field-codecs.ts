import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";

/** A codec for one protobuf field type, which converts between the binary format and ProtoJSON. */
export interface FieldCodec {
  readonly wireType: WireType;
  /**
   * Value of an absent field, if the field type cannot distinguish absent from empty. `undefined` for message
   * types.
   */
  readonly emptyValue: unknown;
  /**
   * Reads a value. A message field may arrive in several pieces, so `before` is the value of the earlier
   * pieces.
   */
  read(reader: BinaryReader, before: unknown): unknown;
  write(writer: BinaryWriter, value: unknown): void;
}

/** Codec for `string`. Throws if the bytes are not valid UTF-8, and never replaces characters silently. */
export const stringCodec: FieldCodec = {
  wireType: WireType.LengthDelimited,
  emptyValue: "",
  read: (reader) => reader.string(true),
  write: (writer, value) => void writer.string(value as string),
};

/** Codec for `bool`. */
export const boolCodec: FieldCodec = {
  wireType: WireType.Varint,
  emptyValue: false,
  read: (reader) => reader.bool(),
  write: (writer, value) => void writer.bool(value as boolean),
};

/** Codec for `int32`. */
export const int32Codec: FieldCodec = {
  wireType: WireType.Varint,
  emptyValue: 0,
  read: (reader) => reader.int32(),
  write: (writer, value) => void writer.int32(value as number),
};

/** Codec for `bytes` fields, which are base64 strings in JSON. */
export const bytesCodec: FieldCodec = {
  wireType: WireType.LengthDelimited,
  emptyValue: "",
  read: (reader) => toBuffer(reader.bytes()).toString("base64"),
  write: (writer, value) => void writer.bytes(Buffer.from(value as string, "base64")),
};

/** Returns a `Buffer` that shares the memory of the bytes. */
export function toBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/**
 * Creates a codec for a protobuf enum. The element `names[n]` is the name of enum number n. If an enum
 * number has no name, the codec returns the number. The JSON decoder then validates the number.
 */
export function createEnumCodec(names: readonly string[]): FieldCodec {
  const numbers = new Map<unknown, number>(names.map((name, number) => [name, number]));
  return {
    wireType: WireType.Varint,
    emptyValue: names[0],
    read: (reader) => {
      const number = reader.int32();
      return names[number] ?? number;
    },
    write: (writer, value) => void writer.int32(numbers.get(value) ?? 0),
  };
}

/** Reads a length prefix and returns the end position of the content. */
export function readLengthPrefixAndGetEndOffset(reader: BinaryReader): number {
  const end = reader.uint32() + reader.pos;
  if (end > reader.len) throw new RangeError("a length extends beyond the end of the message");
  return end;
}

/**
 * Reads message fields until the end position. The callback `readField` returns `false` if a field is
 * unknown, and the reader then skips the field. Throws if a field extends beyond the end position.
 */
export function readFields(
  reader: BinaryReader,
  end: number,
  readField: (number: number, wireType: WireType) => boolean,
): void {
  while (reader.pos < end) {
    const [number, wireType] = reader.tag();
    if (!readField(number, wireType)) reader.skip(wireType, number);
  }
  if (reader.pos !== end) throw new RangeError("a field extends beyond the end of its message");
}

/**
 * Creates a codec for `google.protobuf.Timestamp` or `google.protobuf.Duration`. Timestamps and durations
 * both consist of seconds and nanoseconds. The function `format` converts the seconds and nanoseconds to
 * JSON, and `parse` converts the JSON back.
 */
function createSecondsNanosCodec(
  format: (seconds: number, nanos: number) => string,
  parse: (text: string) => [number, number],
): FieldCodec {
  return {
    wireType: WireType.LengthDelimited,
    emptyValue: undefined,
    read(reader) {
      let seconds = 0;
      let nanos = 0;
      readFields(reader, readLengthPrefixAndGetEndOffset(reader), (number, wireType) => {
        if (wireType !== WireType.Varint || number > 2) return false;
        if (number === 1) seconds = Number(reader.int64());
        else nanos = reader.int32();
        return true;
      });
      return format(seconds, nanos);
    },
    write(writer, value) {
      const [seconds, nanos] = parse(value as string);
      writer.fork();
      if (seconds !== 0) writer.tag(1, WireType.Varint).int64(seconds);
      if (nanos !== 0) writer.tag(2, WireType.Varint).int32(nanos);
      writer.join();
    },
  };
}

/** Codec for `google.protobuf.Timestamp`. */
export const timestampCodec: FieldCodec = createSecondsNanosCodec(
  (seconds, nanos) => {
    const date = new Date(seconds * 1000 + Math.trunc(nanos / 1_000_000));
    // A time outside the JSON range is returned as seconds, which the JSON decoder rejects.
    return Number.isNaN(date.getTime()) ? `${seconds}s` : date.toISOString();
  },
  (text) => {
    const time = Date.parse(text);
    const seconds = Math.floor(time / 1000);
    return [seconds, (time - seconds * 1000) * 1_000_000];
  },
);

/** Codec for `google.protobuf.Duration`. */
export const durationCodec: FieldCodec = createSecondsNanosCodec(
  (seconds, nanos) => `${seconds + nanos / 1e9}s`,
  (text) => {
    const duration = Number.parseFloat(text);
    return [Math.trunc(duration), Math.round((duration % 1) * 1e9)];
  },
);

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
