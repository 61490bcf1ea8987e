import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { fromBase64, type Message, type Part } from "../../src/protocol/index.ts";

/** What an agent of the ITK is to do (`itk.Instruction` of its instruction.proto). */
export type Instruction =
  | { readonly step: "call"; readonly call: CallAgent }
  | { readonly step: "return"; readonly response: string; readonly hold: boolean }
  | { readonly step: "series"; readonly instructions: readonly Instruction[] };

export interface CallAgent {
  readonly transport: string;
  readonly cardUri: string;
  /** The instruction for the called agent, as it came. */
  readonly instruction: Uint8Array;
  readonly streaming: boolean;
  /** Where the called agent's notifications go. */
  readonly pushTo?: string;
  readonly resubscribe: boolean;
}

/** The instruction in a message; undefined for any other message. */
export function instructionIn({ parts }: Message): Instruction | undefined {
  for (const part of parts) {
    const bytes = bytesOf(part);
    const instruction = bytes && tryDecode(bytes);
    if (instruction) return instruction;
  }
  return undefined;
}

/** As a file, or as text: some clients can send nothing else. */
function bytesOf(part: Part): Uint8Array | undefined {
  if ("raw" in part) return fromBase64(part.raw);
  if (
    !("text" in part) ||
    !/^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(part.text)
  )
    return undefined;
  return fromBase64(part.text);
}

function tryDecode(bytes: Uint8Array): Instruction | undefined {
  try {
    return decode(bytes);
  } catch {
    return undefined;
  }
}

function decode(bytes: Uint8Array): Instruction | undefined {
  const { 1: call, 2: answer, 3: series } = fieldsOf(bytes);
  if (call) return { step: "call", call: decodeCall(call[0]) };
  if (answer) {
    const { 1: response, 2: hold } = fieldsOf(asBytes(answer[0]));
    return { step: "return", response: asText(response?.[0]), hold: hold?.[0] === 1 };
  }
  if (!series) return undefined;
  const steps = fieldsOf(asBytes(series[0]))[1] ?? [];
  const instructions = steps.map((step) => decode(asBytes(step)));
  return instructions.every((step) => step !== undefined) ? { step: "series", instructions } : undefined;
}

function decodeCall(bytes: Field | undefined): CallAgent {
  const fields = fieldsOf(asBytes(bytes));
  const push = fields[6] && fieldsOf(asBytes(fields[6][0]))[1];
  return {
    transport: asText(fields[1]?.[0]),
    cardUri: asText(fields[2]?.[0]),
    instruction: asBytes(fields[3]?.[0]),
    streaming: fields[4]?.[0] === 1,
    ...(push ? { pushTo: asText(push[0]) } : {}),
    resubscribe: fields[7] !== undefined,
  };
}

type Field = Uint8Array | number;

/** The fields of a message by their numbers: those with a length as bytes, the others as numbers. */
function fieldsOf(bytes: Uint8Array): Readonly<Record<number, readonly Field[]>> {
  const reader = new BinaryReader(bytes);
  const fields: Record<number, Field[]> = {};
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type !== WireType.Varint && type !== WireType.LengthDelimited)
      throw new Error(`field ${number} is of a type that no instruction has`);
    (fields[number] ??= []).push(type === WireType.LengthDelimited ? reader.bytes() : reader.uint32());
  }
  return fields;
}

function asBytes(field: Field | undefined): Uint8Array {
  return field instanceof Uint8Array ? field : new Uint8Array();
}

function asText(field: Field | undefined): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(asBytes(field));
}
