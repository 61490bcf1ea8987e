import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { type JsonObject, A2AError } from "../../protocol/index.ts";
import { type MessageDefinitions, type MessageField, parseMessageDefinition } from "../index.ts";
import {
  structCodec,
  readMapEntry,
  jsonValueCodec,
  boolCodec,
  bytesCodec,
  durationCodec,
  readLengthPrefixAndGetEndOffset,
  readFields,
  createEnumCodec,
  int32Codec,
  type FieldCodec,
  stringCodec,
  timestampCodec,
} from "./field-codecs.ts";

/** A codec that converts one message type between ProtoJSON and binary. */
export interface MessageCodec {
  readonly name: string;
  /**
   * Decodes a binary message to ProtoJSON. Throws if the bytes are not a valid message, or if the message has more
   * than `maxFields` fields, including the fields of nested messages. Ignores unknown fields.
   */
  decode(binary: Uint8Array, maxFields?: number): JsonObject;
  encode(json: object): Uint8Array;
}

type FieldPresenceKind = "implicit" | "always" | "optional" | "oneof" | "list" | "map";

interface ProtobufField {
  readonly name: string;
  readonly number: number;
  /** Wire type of each field value or map entry. */
  readonly wireType: WireType;
  /** Protobuf tag of the field: the field number combined with `wireType`. */
  readonly tag: number;
  readonly codec: FieldCodec;
  readonly presence: FieldPresenceKind;
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
  Value: jsonValueCodec,
};

/**
 * Creates codecs for message definitions and returns a function that finds a codec by message name. The
 * parameter `enums` contains the value names of each enum, indexed by number.
 */
export function createMessageCodecs(
  definitions: MessageDefinitions,
  enums: Readonly<Record<string, readonly string[]>> = {},
): (name: string) => MessageCodec {
  const codecs = new Map(Object.entries(BUILT_IN_CODECS));
  for (const [name, names] of Object.entries(enums)) codecs.set(name, createEnumCodec(names));
  const messages = Object.keys(definitions).map((name) => new ProtoMessageCodec(name));
  for (const message of messages) codecs.set(message.name, message);
  for (const message of messages)
    for (const field of parseMessageDefinition(definitions[message.name] ?? ""))
      if (field.number > 0) message.addField(toProtobufField(field, codecs));
  return (name) => {
    const type = codecs.get(name);
    if (!(type instanceof ProtoMessageCodec)) throw new Error(`The message "${name}" is not defined.`);
    return type;
  };
}

function toProtobufField(field: MessageField, codecs: ReadonlyMap<string, FieldCodec>): ProtobufField {
  const { wireName: name, number, type, isOneofMember, isList, isMap, suffix } = field;
  const codec = codecs.get(type);
  if (!codec) throw new Error(`The type ${type} of the field ${name} is not defined.`);
  const wireType = isMap ? WireType.LengthDelimited : codec.wireType;
  const scalarPresence = suffix === "?" ? "optional" : suffix === "!" ? "always" : "implicit";
  return {
    name,
    number,
    wireType,
    tag: (number << 3) | wireType,
    codec,
    presence: isOneofMember ? "oneof" : isMap ? "map" : isList ? "list" : scalarPresence,
  };
}

/**
 * Writer that the codec reuses for the next message. With a new writer for each small message, allocating
 * the buffer would take half of the encoding time.
 */
let reusableBinaryWriter: BinaryWriter | undefined;
/**
 * Maximum size in bytes of a message that the codec encodes with a reused writer. The size is limited because
 * the buffer of a writer never shrinks.
 */
const MAX_REUSABLE_WRITER_BYTES = 64 * 1024;

class ProtoMessageCodec implements FieldCodec, MessageCodec {
  readonly name: string;
  readonly wireType = WireType.LengthDelimited;
  readonly emptyValue = undefined;
  readonly #fields: ProtobufField[] = [];
  readonly #alwaysPresentFields: ProtobufField[] = [];
  readonly #fieldsByNumber: (ProtobufField | undefined)[] = [];

  constructor(name: string) {
    this.name = name;
  }

  addField(field: ProtobufField): void {
    this.#fields.push(field);
    if (field.presence === "always") this.#alwaysPresentFields.push(field);
    this.#fieldsByNumber[field.number] = field;
  }

  decode(binary: Uint8Array, maxFields = Infinity): JsonObject {
    const out: JsonRecord = {};
    // A field has at least two bytes, so the fields of short messages need no count.
    const isShort = binary.length <= 2 * maxFields;
    const reader = isShort ? new BinaryReader(binary) : new BoundedBinaryReader(binary, maxFields);
    this.#readFields(reader, binary.length, out);
    return out as JsonObject;
  }

  encode(json: object): Uint8Array {
    const writer = reusableBinaryWriter ?? new BinaryWriter();
    reusableBinaryWriter = undefined;
    this.#writeFields(writer, json as JsonRecord);
    const binary = writer.finish();
    if (binary.length <= MAX_REUSABLE_WRITER_BYTES) reusableBinaryWriter = writer;
    return binary;
  }

  read(reader: BinaryReader, current: unknown): JsonRecord {
    const out = (current as JsonRecord | undefined) ?? {};
    this.#readFields(reader, readLengthPrefixAndGetEndOffset(reader), out);
    return out;
  }

  write(writer: BinaryWriter, json: unknown): void {
    writer.fork();
    this.#writeFields(writer, json as JsonRecord);
    writer.join();
  }

  #readFields(reader: BinaryReader, end: number, out: JsonRecord): void {
    for (const { name, codec } of this.#alwaysPresentFields) out[name] ??= codec.emptyValue;
    readFields(reader, end, (number, wireType) => {
      const field = this.#fieldsByNumber[number];
      // A field with an unexpected wire type is treated as unknown.
      if (field === undefined || wireType !== field.wireType) return false;
      this.#readField(field, reader, out);
      return true;
    });
  }

  #readField({ name, codec, presence }: ProtobufField, reader: BinaryReader, out: JsonRecord): void {
    if (presence === "list") ((out[name] ??= []) as unknown[]).push(codec.read(reader, undefined));
    else if (presence === "map") {
      const members = (out[name] ??= {}) as JsonRecord;
      readMapEntry(reader, members, codec.emptyValue ?? {}, () => codec.read(reader, undefined));
    } else {
      const current = out[name];
      // The last member of a oneof wins.
      if (presence === "oneof" && current === undefined)
        for (const other of this.#fields) if (other.presence === "oneof") delete out[other.name];
      out[name] = codec.read(reader, current);
    }
  }

  #writeFields(writer: BinaryWriter, json: JsonRecord): void {
    for (const field of this.#fields) {
      const value = json[field.name];
      if (value !== undefined) writeField(field, writer, value);
    }
  }
}

function writeField({ tag, codec, presence }: ProtobufField, writer: BinaryWriter, value: unknown): void {
  if (presence === "list") {
    for (const item of value as readonly unknown[]) codec.write(writer.uint32(tag), item);
  } else if (presence === "map") {
    for (const [key, item] of Object.entries(value as JsonRecord)) {
      writer.uint32(tag).fork();
      writer.tag(1, WireType.LengthDelimited).string(key);
      codec.write(writer.tag(2, codec.wireType), item);
      writer.join();
    }
  } else if ((presence !== "implicit" && presence !== "always") || value !== codec.emptyValue) {
    codec.write(writer.uint32(tag), value);
  }
}

/** Reads a binary message, and throws PAYLOAD_TOO_LARGE if the message has more than `maxFields` fields. */
class BoundedBinaryReader extends BinaryReader {
  readonly #maxFields: number;
  #fieldCount = 0;

  constructor(binary: Uint8Array, maxFields: number) {
    super(binary);
    this.#maxFields = maxFields;
  }

  /** Counts the tag of each field, also of unknown fields and of the fields of nested messages. */
  override tag(): ReturnType<BinaryReader["tag"]> {
    this.#fieldCount++;
    if (this.#fieldCount > this.#maxFields) throw createTooManyFieldsError(this.#maxFields);
    return super.tag();
  }
}

function createTooManyFieldsError(maxFields: number): A2AError {
  const limit = maxFields.toLocaleString("en");
  const message = `The request has more than ${limit} protobuf fields (twice maxJsonValues); send large data as text, as bytes, or by URL.`;
  return new A2AError("PAYLOAD_TOO_LARGE", message);
}
