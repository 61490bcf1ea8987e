import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

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
