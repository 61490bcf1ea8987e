import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** A type of field: how its values stand on the wire, and as ProtoJSON. */
export interface FieldCodec {
  readonly wireType: WireType;
  /** What a field without presence has when it is not on the wire; undefined for a message. */
  readonly emptyValue: unknown;
  /** `before`: what the field had already, for a message that comes in pieces. */
  read(reader: BinaryReader, before: unknown): unknown;
  write(writer: BinaryWriter, value: unknown): void;
}

/** Throws for what is no UTF-8: a string that is silently another one would be worse. */
export const stringCodec: FieldCodec = {
  wireType: WireType.LengthDelimited,
  emptyValue: "",
  read: (reader) => reader.string(true),
  write: (writer, value) => void writer.string(value as string),
};

export const boolCodec: FieldCodec = {
  wireType: WireType.Varint,
  emptyValue: false,
  read: (reader) => reader.bool(),
  write: (writer, value) => void writer.bool(value as boolean),
};

export const int32Codec: FieldCodec = {
  wireType: WireType.Varint,
  emptyValue: 0,
  read: (reader) => reader.int32(),
  write: (writer, value) => void writer.int32(value as number),
};

/** Base64 in JSON. */
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

/** `names[n]` is the name of number n. A number without a name stays one; whoever reads the JSON judges it. */
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

/** Where the length-delimited content that begins here ends. */
export function readEndOffset(reader: BinaryReader): number {
  const end = reader.uint32() + reader.pos;
  if (end > reader.len) throw new RangeError("a length goes beyond the end");
  return end;
}

/** Refuses content that reaches beyond the end that was announced. */
export function assertAtEndOffset(reader: BinaryReader, end: number): void {
  if (reader.pos !== end) throw new RangeError("a field goes beyond the end of its message");
}

/** `google.protobuf.Timestamp` and `Duration`: seconds and nanoseconds. `text` and `parts` turn them into JSON and back. */
function createSecondsNanosCodec(
  text: (seconds: number, nanos: number) => string,
  parts: (text: string) => [number, number],
): FieldCodec {
  return {
    wireType: WireType.LengthDelimited,
    emptyValue: undefined,
    read(reader) {
      const end = readEndOffset(reader);
      let seconds = 0;
      let nanos = 0;
      while (reader.pos < end) {
        const [number, wire] = reader.tag();
        if (number === 1 && wire === WireType.Varint) seconds = Number(reader.int64());
        else if (number === 2 && wire === WireType.Varint) nanos = reader.int32();
        else reader.skip(wire, number);
      }
      assertAtEndOffset(reader, end);
      return text(seconds, nanos);
    },
    write(writer, value) {
      const [seconds, nanos] = parts(value as string);
      writer.fork();
      if (seconds !== 0) writer.tag(1, WireType.Varint).int64(seconds);
      if (nanos !== 0) writer.tag(2, WireType.Varint).int32(nanos);
      writer.join();
    },
  };
}

export const timestampCodec: FieldCodec = createSecondsNanosCodec(
  (seconds, nanos) => {
    const date = new Date(seconds * 1000 + Math.trunc(nanos / 1_000_000));
    // A time that JSON can not have is left to whoever reads the JSON to refuse.
    return Number.isNaN(date.getTime()) ? `${seconds}s` : date.toISOString();
  },
  (text) => {
    const time = Date.parse(text);
    const seconds = Math.floor(time / 1000);
    return [seconds, (time - seconds * 1000) * 1_000_000];
  },
);

export const durationCodec: FieldCodec = createSecondsNanosCodec(
  (seconds, nanos) => `${seconds + nanos / 1e9}s`,
  (text) => {
    const whole = Number.parseFloat(text);
    return [Math.trunc(whole), Math.round((whole % 1) * 1e9)];
  },
);
