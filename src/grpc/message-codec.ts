import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { JsonObject } from "../protocol/index.ts";
import { structCodec, readMapEntry, valueCodec } from "./json-value-codecs.ts";
import {
  boolCodec,
  bytesCodec,
  assertAtEndOffset,
  durationCodec,
  readEndOffset,
  createEnumCodec,
  int32Codec,
  type FieldCodec,
  stringCodec,
  timestampCodec,
} from "./field-codecs.ts";

/**
 * Messages by their names, each with its fields: `name=number` is a string, `:Type` another type, `[]` a list,
 * `{Type}` a map with string keys, `?` a field whose empty value is not the same as none, `!` one that is read as empty
 * when it is not there, and `|` in front a member of the message's only oneof. Names are those of ProtoJSON.
 */
export type MessageDefinitions = Readonly<Record<string, string>>;

/** A kind of message: ProtoJSON ↔ binary. */
export interface MessageCodec {
  readonly name: string;
  /** Throws for what is no such message; fields that it does not have are ignored. */
  decode(binary: Uint8Array): JsonObject;
  encode(json: object): Uint8Array;
}

type FieldPresence = "implicit" | "always" | "optional" | "oneof" | "list" | "map";

interface MessageField {
  readonly name: string;
  readonly number: number;
  /** How each of its values, or entries, is written. */
  readonly wireType: WireType;
  /** What stands before it: the number, and `wireType`. */
  readonly tag: number;
  readonly codec: FieldCodec;
  readonly presence: FieldPresence;
}

type JsonRecord = Record<string, unknown>;

const BUILT_IN_CODECS: Readonly<Record<string, FieldCodec>> = {
  string: stringCodec,
  bool: boolCodec,
  int32: int32Codec,
  bytes: bytesCodec,
  Timestamp: timestampCodec,
  Duration: durationCodec,
  Struct: structCodec,
  Value: valueCodec,
};

/** The messages of a notation. `enums`: names by their numbers. */
export function createMessageCodecs(
  notation: MessageDefinitions,
  enums: Readonly<Record<string, readonly string[]>> = {},
): (name: string) => MessageCodec {
  const kinds = new Map(Object.entries(BUILT_IN_CODECS));
  for (const [name, names] of Object.entries(enums)) kinds.set(name, createEnumCodec(names));
  const messages = Object.keys(notation).map((name) => new ProtoMessageCodec(name));
  for (const message of messages) kinds.set(message.name, message);
  for (const message of messages) {
    for (const text of (notation[message.name] ?? "").split(" ")) {
      if (text !== "") message.addField(parseField(text, kinds));
    }
  }
  return (name) => {
    const type = kinds.get(name);
    if (!(type instanceof ProtoMessageCodec)) throw new Error(`There is no message ${name}.`);
    return type;
  };
}

const FIELD_PATTERN =
  /^(?<oneof>\|?)(?<name>\w+)=(?<number>\d+)(?::(?<map>\{?)(?<type>\w+)\}?)?(?<suffix>\[\]|\?|!|)$/;

const PRESENCE_BY_SUFFIX: Readonly<Record<string, FieldPresence>> = {
  "[]": "list",
  "?": "optional",
  "!": "always",
};

function parseField(text: string, kinds: ReadonlyMap<string, FieldCodec>): MessageField {
  const {
    oneof,
    name = "",
    number,
    map,
    type = "string",
    suffix = "",
  } = FIELD_PATTERN.exec(text)?.groups ?? {};
  const kind = kinds.get(type);
  if (!kind || name === "") throw new Error(`${JSON.stringify(text)} is no field.`);
  const presence: FieldPresence = oneof ? "oneof" : map ? "map" : (PRESENCE_BY_SUFFIX[suffix] ?? "implicit");
  const wire = presence === "map" ? WireType.LengthDelimited : kind.wireType;
  return {
    name,
    number: Number(number),
    wireType: wire,
    tag: (Number(number) << 3) | wire,
    codec: kind,
    presence,
  };
}

/** A writer for the next message: half of the time that a small one takes is for a buffer to grow. */
let spareWriter: BinaryWriter | undefined;
/** The buffer of a writer stays as large as it ever was. */
const MAX_SPARE_WRITER_BYTES = 64 * 1024;

class ProtoMessageCodec implements FieldCodec, MessageCodec {
  readonly name: string;
  readonly wireType = WireType.LengthDelimited;
  readonly emptyValue = undefined;
  readonly #fields: MessageField[] = [];
  readonly #alwaysPresentFields: MessageField[] = [];
  readonly #fieldsByNumber: (MessageField | undefined)[] = [];

  constructor(name: string) {
    this.name = name;
  }

  addField(field: MessageField): void {
    this.#fields.push(field);
    if (field.presence === "always") this.#alwaysPresentFields.push(field);
    this.#fieldsByNumber[field.number] = field;
  }

  decode(binary: Uint8Array): JsonObject {
    const out: JsonRecord = {};
    this.#readFields(new BinaryReader(binary), binary.length, out);
    return out as JsonObject;
  }

  encode(json: object): Uint8Array {
    const writer = spareWriter ?? new BinaryWriter();
    spareWriter = undefined;
    this.#writeFields(writer, json as JsonRecord);
    const binary = writer.finish();
    if (binary.length <= MAX_SPARE_WRITER_BYTES) spareWriter = writer;
    return binary;
  }

  read(reader: BinaryReader, before: unknown): JsonRecord {
    const out = (before as JsonRecord | undefined) ?? {};
    this.#readFields(reader, readEndOffset(reader), out);
    return out;
  }

  write(writer: BinaryWriter, json: unknown): void {
    writer.fork();
    this.#writeFields(writer, json as JsonRecord);
    writer.join();
  }

  #readFields(reader: BinaryReader, end: number, out: JsonRecord): void {
    for (const { name, codec: kind } of this.#alwaysPresentFields) out[name] ??= kind.emptyValue;
    while (reader.pos < end) {
      const [number, wire] = reader.tag();
      const field = this.#fieldsByNumber[number];
      // What stands there as something else than it should is as good as unknown.
      if (field !== undefined && wire === field.wireType) {
        this.#readField(field, reader, out);
      } else reader.skip(wire, number);
    }
    assertAtEndOffset(reader, end);
  }

  #readField({ name, codec: kind, presence }: MessageField, reader: BinaryReader, out: JsonRecord): void {
    if (presence === "list") ((out[name] ??= []) as unknown[]).push(kind.read(reader, undefined));
    else if (presence === "map") {
      const members = (out[name] ??= {}) as JsonRecord;
      readMapEntry(reader, members, kind.emptyValue ?? {}, () => kind.read(reader, undefined));
    } else {
      const before = out[name];
      // The last member of a oneof is the one that counts.
      if (presence === "oneof" && before === undefined)
        for (const other of this.#fields) if (other.presence === "oneof") delete out[other.name];
      out[name] = kind.read(reader, before);
    }
  }

  #writeFields(writer: BinaryWriter, json: JsonRecord): void {
    for (const field of this.#fields) {
      const given = json[field.name];
      if (given !== undefined) writeField(field, writer, given);
    }
  }
}

function writeField(
  { tag, codec: kind, presence }: MessageField,
  writer: BinaryWriter,
  given: unknown,
): void {
  if (presence === "list") {
    for (const item of given as readonly unknown[]) kind.write(writer.uint32(tag), item);
  } else if (presence === "map") {
    for (const [key, item] of Object.entries(given as JsonRecord)) {
      writer.uint32(tag).fork();
      writer.tag(1, WireType.LengthDelimited).string(key);
      kind.write(writer.tag(2, kind.wireType), item);
      writer.join();
    }
  } else if ((presence !== "implicit" && presence !== "always") || given !== kind.emptyValue) {
    kind.write(writer.uint32(tag), given);
  }
}
