import type { JsonObject } from "../protocol/index.ts";
import { base64Of } from "./kinds.ts";
import { type MessageType, messageTypes } from "./message.ts";

/** The messages of `google.rpc` in which errors are told (A2A §10.6). */
const message = messageTypes({
  Status: "code=1:int32 message=2 details=3:Any[]",
  Any: "typeUrl=1 value=2:bytes",
  ErrorInfo: "reason=1 domain=2 metadata=3:{string}",
  FieldViolation: "field=1 description=2",
  BadRequest: "fieldViolations=1:FieldViolation[]",
  RetryInfo: "retryDelay=1:Duration",
});

const STATUS = message("Status");
const PREFIX = "type.googleapis.com/google.rpc.";
const KNOWN = new Map<unknown, MessageType>(
  ["ErrorInfo", "BadRequest", "RetryInfo"].map((name) => [PREFIX + name, message(name)]),
);

/**
 * Peers refuse trailers of more than 8 KiB in all (gRPC's own default). Base64 makes a third more of these bytes, and the
 * message stands there once more, in which each byte may be three characters.
 */
const MAX_MESSAGE = 800;
const MAX_DETAILS = 3_000;

/** `google.rpc.Status`; `details` are ProtoJSON `Any` objects. */
export interface Status {
  readonly code: number;
  readonly message: string;
  readonly details: readonly JsonObject[];
}

/** The binary for `grpc-status-details-bin`. Left out are details of types that only their sender could write, and what is too much for a trailer. */
export function encodeStatus({ code, message, details }: Status): Uint8Array {
  let room = MAX_DETAILS;
  const packed = [];
  for (const detail of details.map(shortened)) {
    const typeUrl = detail["@type"];
    const binary = KNOWN.get(typeUrl)?.encode(detail);
    if (!binary || binary.length > room) continue;
    room -= binary.length;
    packed.push({ typeUrl, value: base64Of(binary) });
  }
  return STATUS.encode({ code, message: clip(message), details: packed });
}

/** Reads what `encodeStatus` or another server wrote. Throws for what is no Status. */
export function decodeStatus(binary: Uint8Array): Status {
  const { code, message, details } = STATUS.decode(binary);
  return {
    code: typeof code === "number" ? code : 0,
    message: typeof message === "string" ? message : "",
    details: Array.isArray(details) ? (details as JsonObject[]).flatMap(unpack) : [],
  };
}

function unpack({ typeUrl = "", value }: JsonObject): JsonObject[] {
  const type = KNOWN.get(typeUrl);
  if (!type) return [];
  return [
    { "@type": typeUrl, ...type.decode(Buffer.from(typeof value === "string" ? value : "", "base64")) },
  ];
}

/** A message as it fits into a trailer, in whole characters: half of one, by our cut or in the text, no status can have. */
export function clip(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_MESSAGE) return bytes.toString();
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_MESSAGE), { stream: true })}…`;
}

/** As many violations as there is room for, the first ones first. */
function shortened(detail: JsonObject): JsonObject {
  const { fieldViolations } = detail;
  if (!Array.isArray(fieldViolations)) return detail;
  let room = MAX_DETAILS;
  return {
    ...detail,
    fieldViolations: fieldViolations.filter((violation) => {
      room -= Buffer.byteLength(JSON.stringify(violation));
      return room > 0;
    }),
  };
}
