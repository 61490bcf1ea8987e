import { BinaryReader, WireType } from "@bufbuild/protobuf/wire";
import { fromBase64, type Message, type Part } from "../../src/protocol/index.ts";

/** An instruction for an agent of the ITK (`itk.Instruction` in its instruction.proto). */
export type Instruction =
  | { readonly step: "call"; readonly call: AgentCall }
  | { readonly step: "return"; readonly response: string; readonly hold: boolean }
  | { readonly step: "series"; readonly instructions: readonly Instruction[] };

export interface AgentCall {
  readonly transport: string;
  readonly cardUri: string;
  /** The encoded instruction for the called agent. */
  readonly instruction: Uint8Array;
  readonly streaming: boolean;
  /** URL for the called agent's notifications. */
  readonly pushUrl?: string;
  readonly resubscribe: boolean;
}

/** Returns the instruction in a message, or `undefined` for any other message. */
export function findInstruction({ parts }: Message): Instruction | undefined {
  for (const part of parts) {
    const bytes = decodePartBytes(part);
    const instruction = bytes && tryDecodeInstruction(bytes);
    if (instruction) return instruction;
  }
  return undefined;
}

/** Accepts a file or text, because some clients can send only text. */
function decodePartBytes(part: Part): Uint8Array | undefined {
  if ("raw" in part) return fromBase64(part.raw);
  if (
    !("text" in part) ||
    !/^(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(part.text)
  )
    return undefined;
  return fromBase64(part.text);
}

function tryDecodeInstruction(bytes: Uint8Array): Instruction | undefined {
  try {
    return decodeInstruction(bytes);
  } catch {
    return undefined;
  }
}

function decodeInstruction(bytes: Uint8Array): Instruction | undefined {
  const { 1: call, 2: answer, 3: series } = decodeFields(bytes);
  if (call) return { step: "call", call: decodeAgentCall(call[0]) };
  if (answer) {
    const { 1: response, 2: hold } = decodeFields(toBytes(answer[0]));
    return { step: "return", response: toText(response?.[0]), hold: hold?.[0] === 1 };
  }
  if (!series) return undefined;
  const steps = decodeFields(toBytes(series[0]))[1] ?? [];
  const instructions = steps.map((step) => decodeInstruction(toBytes(step)));
  return instructions.every((step) => step !== undefined) ? { step: "series", instructions } : undefined;
}

function decodeAgentCall(bytes: ProtobufField | undefined): AgentCall {
  const fields = decodeFields(toBytes(bytes));
  const push = fields[6] && decodeFields(toBytes(fields[6][0]))[1];
  return {
    transport: toText(fields[1]?.[0]),
    cardUri: toText(fields[2]?.[0]),
    instruction: toBytes(fields[3]?.[0]),
    streaming: fields[4]?.[0] === 1,
    ...(push ? { pushUrl: toText(push[0]) } : {}),
    resubscribe: fields[7] !== undefined,
  };
}

type ProtobufField = Uint8Array | number;

/**
 * Decodes the fields of a protobuf message by number: length-delimited fields as bytes, and all others as
 * numbers.
 */
function decodeFields(bytes: Uint8Array): Readonly<Record<number, readonly ProtobufField[]>> {
  const reader = new BinaryReader(bytes);
  const fields: Record<number, ProtobufField[]> = {};
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (type !== WireType.Varint && type !== WireType.LengthDelimited)
      throw new Error(`field ${number} has an unsupported wire type`);
    (fields[number] ??= []).push(type === WireType.LengthDelimited ? reader.bytes() : reader.uint32());
  }
  return fields;
}

function toBytes(field: ProtobufField | undefined): Uint8Array {
  return field instanceof Uint8Array ? field : new Uint8Array();
}

function toText(field: ProtobufField | undefined): string {
  return new TextDecoder("utf-8", { fatal: true }).decode(toBytes(field));
}
