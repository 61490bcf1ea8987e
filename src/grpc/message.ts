import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import type { JsonObject } from "../protocol/index.ts";
import { struct, readEntry, value } from "./json-value.ts";
import {
  bool,
  bytes,
  checkEnd,
  duration,
  endOf,
  enumeration,
  int32,
  type Kind,
  string,
  timestamp,
} from "./kinds.ts";

/**
 * Messages by their names, each with its fields: `name=number` is a string, `:Type` another type, `[]` a list,
 * `{Type}` a map with string keys, `?` a field whose empty value is not the same as none, `!` one that is read as empty
 * when it is not there, and `|` in front a member of the message's only oneof. Names are those of ProtoJSON.
 */
export type Notation = Readonly<Record<string, string>>;

/** A kind of message: ProtoJSON ↔ binary. */
export interface MessageType {
  readonly name: string;
  /** Throws for what is no such message; fields that it does not have are ignored. */
  decode(binary: Uint8Array): JsonObject;
  encode(json: object): Uint8Array;
}

type Presence = "implicit" | "always" | "optional" | "oneof" | "list" | "map";

interface Field {
  readonly name: string;
  readonly number: number;
  /** How each of its values, or entries, is written. */
  readonly wire: WireType;
  /** What stands before it: the number, and `wire`. */
  readonly tag: number;
  readonly kind: Kind;
  readonly presence: Presence;
}

type Json = Record<string, unknown>;

const KINDS: Readonly<Record<string, Kind>> = {
  string,
  bool,
  int32,
  bytes,
  Timestamp: timestamp,
  Duration: duration,
  Struct: struct,
  Value: value,
};

/** The messages of a notation. `enums`: names by their numbers. */
export function messageTypes(
  notation: Notation,
  enums: Readonly<Record<string, readonly string[]>> = {},
): (name: string) => MessageType {
  const kinds = new Map(Object.entries(KINDS));
  for (const [name, names] of Object.entries(enums)) kinds.set(name, enumeration(names));
  const messages = Object.keys(notation).map((name) => new MessageKind(name));
  for (const message of messages) kinds.set(message.name, message);
  for (const message of messages) {
    for (const text of (notation[message.name] ?? "").split(" ")) {
      if (text !== "") message.add(parseField(text, kinds));
    }
  }
  return (name) => {
    const type = kinds.get(name);
    if (!(type instanceof MessageKind)) throw new Error(`There is no message ${name}.`);
    return type;
  };
}

const FIELD =
  /^(?<oneof>\|?)(?<name>\w+)=(?<number>\d+)(?::(?<map>\{?)(?<type>\w+)\}?)?(?<suffix>\[\]|\?|!|)$/;

const PRESENCE: Readonly<Record<string, Presence>> = { "[]": "list", "?": "optional", "!": "always" };

function parseField(text: string, kinds: ReadonlyMap<string, Kind>): Field {
  const { oneof, name = "", number, map, type = "string", suffix = "" } = FIELD.exec(text)?.groups ?? {};
  const kind = kinds.get(type);
  if (!kind || name === "") throw new Error(`${JSON.stringify(text)} is no field.`);
  const presence: Presence = oneof ? "oneof" : map ? "map" : (PRESENCE[suffix] ?? "implicit");
  const wire = presence === "map" ? WireType.LengthDelimited : kind.wire;
  return { name, number: Number(number), wire, tag: (Number(number) << 3) | wire, kind, presence };
}

/** A writer for the next message: half of the time that a small one takes is for a buffer to grow. */
let spare: BinaryWriter | undefined;
/** The buffer of a writer stays as large as it ever was. */
const MAX_SPARE = 64 * 1024;

class MessageKind implements Kind, MessageType {
  readonly name: string;
  readonly wire = WireType.LengthDelimited;
  readonly empty = undefined;
  readonly #fields: Field[] = [];
  readonly #always: Field[] = [];
  readonly #byNumber: (Field | undefined)[] = [];

  constructor(name: string) {
    this.name = name;
  }

  add(field: Field): void {
    this.#fields.push(field);
    if (field.presence === "always") this.#always.push(field);
    this.#byNumber[field.number] = field;
  }

  decode(binary: Uint8Array): JsonObject {
    const out: Json = {};
    this.#readFields(new BinaryReader(binary), binary.length, out);
    return out as JsonObject;
  }

  encode(json: object): Uint8Array {
    const writer = spare ?? new BinaryWriter();
    spare = undefined;
    this.#writeFields(writer, json as Json);
    const binary = writer.finish();
    if (binary.length <= MAX_SPARE) spare = writer;
    return binary;
  }

  read(reader: BinaryReader, before: unknown): Json {
    const out = (before as Json | undefined) ?? {};
    this.#readFields(reader, endOf(reader), out);
    return out;
  }

  write(writer: BinaryWriter, json: unknown): void {
    writer.fork();
    this.#writeFields(writer, json as Json);
    writer.join();
  }

  #readFields(reader: BinaryReader, end: number, out: Json): void {
    for (const { name, kind } of this.#always) out[name] ??= kind.empty;
    while (reader.pos < end) {
      const [number, wire] = reader.tag();
      const field = this.#byNumber[number];
      // What stands there as something else than it should is as good as unknown.
      if (field !== undefined && wire === field.wire) {
        this.#readField(field, reader, out);
      } else reader.skip(wire, number);
    }
    checkEnd(reader, end);
  }

  #readField({ name, kind, presence }: Field, reader: BinaryReader, out: Json): void {
    if (presence === "list") ((out[name] ??= []) as unknown[]).push(kind.read(reader, undefined));
    else if (presence === "map") {
      const members = (out[name] ??= {}) as Json;
      readEntry(reader, members, kind.empty ?? {}, () => kind.read(reader, undefined));
    } else {
      const before = out[name];
      // The last member of a oneof is the one that counts.
      if (presence === "oneof" && before === undefined)
        for (const other of this.#fields) if (other.presence === "oneof") delete out[other.name];
      out[name] = kind.read(reader, before);
    }
  }

  #writeFields(writer: BinaryWriter, json: Json): void {
    for (const field of this.#fields) {
      const given = json[field.name];
      if (given !== undefined) writeField(field, writer, given);
    }
  }
}

function writeField({ tag, kind, presence }: Field, writer: BinaryWriter, given: unknown): void {
  if (presence === "list") {
    for (const item of given as readonly unknown[]) kind.write(writer.uint32(tag), item);
  } else if (presence === "map") {
    for (const [key, item] of Object.entries(given as Json)) {
      writer.uint32(tag).fork();
      writer.tag(1, WireType.LengthDelimited).string(key);
      kind.write(writer.tag(2, kind.wire), item);
      writer.join();
    }
  } else if ((presence !== "implicit" && presence !== "always") || given !== kind.empty) {
    kind.write(writer.uint32(tag), given);
  }
}
