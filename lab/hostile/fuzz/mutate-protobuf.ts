import { HOSTILE_TEXTS } from "./hostile-values.ts";
import { drawElement, drawInteger, type RandomSource } from "./random-choice.ts";

/** A field of a binary protobuf message. */
interface ProtobufField {
  readonly number: number;
  readonly wireType: number;
  /** The bytes after the tag: a varint, a fixed number, or a length with content. */
  readonly value: Uint8Array;
}

/**
 * Returns a protobuf message after one to three mutations. Mutations know the structure of the message: they change the
 * numbers, types, lengths, and values of its fields, also in nested messages. The names of the message's type are not
 * needed, because the wire format describes itself.
 */
export function mutateProtobuf(random: RandomSource, message: Uint8Array): Uint8Array {
  let mutated = message;
  const count = 1 + drawInteger(random, 3);
  for (let done = 0; done < count; done++) mutated = mutateMessage(random, mutated, 0);
  return random() < 0.1 ? mutateBytes(random, mutated) : mutated;
}

/** Flips a bit, or removes, repeats, or inserts some bytes. */
export function mutateBytes(random: RandomSource, bytes: Uint8Array): Uint8Array {
  const start = drawInteger(random, bytes.length + 1);
  const end = Math.min(bytes.length, start + 1 + drawInteger(random, 8));
  return drawElement(random, [
    () => bytes.map((byte, at) => (at === start ? byte ^ (1 << drawInteger(random, 8)) : byte)),
    () => bytes.subarray(0, start),
    () => concatBytes(bytes.subarray(0, start), bytes.subarray(end)),
    () => concatBytes(bytes.subarray(0, end), bytes.subarray(start)),
    () =>
      concatBytes(bytes.subarray(0, start), Uint8Array.of(drawInteger(random, 256)), bytes.subarray(start)),
  ])();
}

function mutateMessage(random: RandomSource, message: Uint8Array, depth: number): Uint8Array {
  const fields = parseFields(message);
  if (fields === undefined || fields.length === 0) return mutateBytes(random, message);
  const index = drawInteger(random, fields.length);
  const field = fields[index] as ProtobufField;
  const content = getContent(field);
  if (content && depth < 6 && random() < 0.6) {
    const nested = mutateMessage(random, content, depth + 1);
    return encodeFields(fields.with(index, { ...field, value: withLength(nested) }));
  }
  const replace = (changed: Partial<ProtobufField>): Uint8Array =>
    encodeFields(fields.with(index, { ...field, ...changed }));
  return drawElement(random, [
    () => encodeFields(fields.toSpliced(index, 1)),
    () => encodeFields([...fields, ...Array.from({ length: 1 + drawInteger(random, 50) }, () => field)]),
    () => replace({ number: drawElement(random, [0, 1, 2, 15, 16, 19_000, 2 ** 29 - 1]) }),
    () => replace({ wireType: drawInteger(random, 8) }),
    () => replace({ wireType: 0, value: drawElement(random, HOSTILE_VARINTS) }),
    () =>
      replace({
        wireType: 2,
        value: withLength(new TextEncoder().encode(drawElement(random, HOSTILE_TEXTS))),
      }),
    // Text that is not UTF-8.
    () => replace({ wireType: 2, value: withLength(Uint8Array.of(0xff, 0xfe, 0xc0, 0x80)) }),
    // A length beyond the end of the message.
    () =>
      replace({
        wireType: 2,
        value: concatBytes(encodeVarint(drawElement(random, [5, 1000, 2 ** 31 - 1])), Uint8Array.of(1)),
      }),
    // The field inside of itself.
    () => replace({ wireType: 2, value: nestField(field, 1 + drawInteger(random, 120)) }),
    () => replace({ value: field.value.map((byte) => byte ^ drawInteger(random, 256)) }),
  ])();
}

const HOSTILE_VARINTS: readonly Uint8Array[] = [
  Uint8Array.of(0),
  Uint8Array.of(1),
  Uint8Array.of(0x80),
  Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0x07),
  Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
  Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
];

function nestField(field: ProtobufField, depth: number): Uint8Array {
  let content = encodeFields([field]);
  for (let level = 0; level < depth; level++)
    content = encodeFields([{ ...field, wireType: 2, value: withLength(content) }]);
  return withLength(content);
}

/** Returns the fields of a message, or `undefined` if the bytes are not a message. */
function parseFields(bytes: Uint8Array): ProtobufField[] | undefined {
  const fields: ProtobufField[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const tag = readVarint(bytes, offset);
    if (!tag || tag.value >>> 3 === 0) return undefined;
    const wireType = tag.value & 7;
    const end = findValueEnd(bytes, tag.end, wireType);
    if (end === undefined || end > bytes.length) return undefined;
    fields.push({ number: tag.value >>> 3, wireType, value: bytes.subarray(tag.end, end) });
    offset = end;
  }
  return fields;
}

function findValueEnd(bytes: Uint8Array, start: number, wireType: number): number | undefined {
  if (wireType === 1) return start + 8;
  if (wireType === 5) return start + 4;
  if (wireType !== 0 && wireType !== 2) return undefined;
  const varint = readVarint(bytes, start);
  return varint && (wireType === 0 ? varint.end : varint.end + varint.value);
}

/** Returns the content of a field with a length that is itself a message. */
function getContent({ wireType, value }: ProtobufField): Uint8Array | undefined {
  if (wireType !== 2) return undefined;
  const length = readVarint(value, 0);
  const content = length && value.subarray(length.end);
  return content && content.length > 1 && parseFields(content) ? content : undefined;
}

function readVarint(bytes: Uint8Array, start: number): { value: number; end: number } | undefined {
  let value = 0;
  for (let at = start; at < Math.min(bytes.length, start + 5); at++) {
    const byte = bytes[at] ?? 0;
    value += (byte & 0x7f) * 2 ** (7 * (at - start));
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return undefined;
}

function encodeVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Uint8Array.from([...bytes, rest]);
}

function encodeFields(fields: readonly ProtobufField[]): Uint8Array {
  return concatBytes(
    ...fields.flatMap(({ number, wireType, value }) => [encodeVarint(number * 8 + wireType), value]),
  );
}

function withLength(content: Uint8Array): Uint8Array {
  return concatBytes(encodeVarint(content.length), content);
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}
