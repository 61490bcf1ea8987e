import { type BinaryReader, type BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/** A type of field: how its values stand on the wire, and as ProtoJSON. */
export interface Kind {
  readonly wire: WireType;
  /** What a field without presence has when it is not on the wire; undefined for a message. */
  readonly empty: unknown;
  /** `before`: what the field had already, for a message that comes in pieces. */
  read(reader: BinaryReader, before: unknown): unknown;
  write(writer: BinaryWriter, value: unknown): void;
}

/** Throws for what is no UTF-8: a string that is silently another one would be worse. */
export const string: Kind = {
  wire: WireType.LengthDelimited,
  empty: "",
  read: (reader) => reader.string(true),
  write: (writer, value) => void writer.string(value as string),
};

export const bool: Kind = {
  wire: WireType.Varint,
  empty: false,
  read: (reader) => reader.bool(),
  write: (writer, value) => void writer.bool(value as boolean),
};

export const int32: Kind = {
  wire: WireType.Varint,
  empty: 0,
  read: (reader) => reader.int32(),
  write: (writer, value) => void writer.int32(value as number),
};

/** Base64 in JSON. */
export const bytes: Kind = {
  wire: WireType.LengthDelimited,
  empty: "",
  read: (reader) => base64Of(reader.bytes()),
  write: (writer, value) => void writer.bytes(Buffer.from(value as string, "base64")),
};

export function base64Of({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("base64");
}

/** `names[n]` is the name of number n. A number without a name stays one; whoever reads the JSON judges it. */
export function enumeration(names: readonly string[]): Kind {
  const numbers = new Map<unknown, number>(names.map((name, number) => [name, number]));
  return {
    wire: WireType.Varint,
    empty: names[0],
    read: (reader) => {
      const number = reader.int32();
      return names[number] ?? number;
    },
    write: (writer, value) => void writer.int32(numbers.get(value) ?? 0),
  };
}

/** Where the length-delimited content that begins here ends. */
export function endOf(reader: BinaryReader): number {
  const end = reader.uint32() + reader.pos;
  if (end > reader.len) throw new RangeError("a length goes beyond the end");
  return end;
}

/** Refuses content that reaches beyond the end that was announced. */
export function checkEnd(reader: BinaryReader, end: number): void {
  if (reader.pos !== end) throw new RangeError("a field goes beyond the end of its message");
}

/** `google.protobuf.Timestamp` and `Duration`: seconds and nanoseconds. `text` and `parts` turn them into JSON and back. */
function moment(
  text: (seconds: number, nanos: number) => string,
  parts: (text: string) => [number, number],
): Kind {
  return {
    wire: WireType.LengthDelimited,
    empty: undefined,
    read(reader) {
      const end = endOf(reader);
      let seconds = 0;
      let nanos = 0;
      while (reader.pos < end) {
        const [number, wire] = reader.tag();
        if (number === 1 && wire === WireType.Varint) seconds = Number(reader.int64());
        else if (number === 2 && wire === WireType.Varint) nanos = reader.int32();
        else reader.skip(wire, number);
      }
      checkEnd(reader, end);
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

export const timestamp: Kind = moment(
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

export const duration: Kind = moment(
  (seconds, nanos) => `${seconds + nanos / 1e9}s`,
  (text) => {
    const whole = Number.parseFloat(text);
    return [Math.trunc(whole), Math.round((whole % 1) * 1e9)];
  },
);
