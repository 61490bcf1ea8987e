import type { JsonObject } from "../protocol/index.ts";
import { toBuffer } from "./field-codecs.ts";
import { type MessageCodec, createMessageCodecs } from "./message-codec.ts";

/** The messages of `google.rpc` in which errors are told (A2A §10.6). */
const getGoogleRpcCodec = createMessageCodecs({
  Status: "code=1:int32 message=2 details=3:Any[]",
  Any: "typeUrl=1 value=2:bytes",
  ErrorInfo: "reason=1 domain=2 metadata=3:{string}",
  FieldViolation: "field=1 description=2",
  BadRequest: "fieldViolations=1:FieldViolation[]",
  RetryInfo: "retryDelay=1:Duration",
});

const STATUS_CODEC = getGoogleRpcCodec("Status");
const TYPE_URL_PREFIX = "type.googleapis.com/google.rpc.";
const DETAIL_CODECS = new Map<unknown, MessageCodec>(
  ["ErrorInfo", "BadRequest", "RetryInfo"].map((name) => [TYPE_URL_PREFIX + name, getGoogleRpcCodec(name)]),
);

/**
 * Peers refuse trailers of more than 8 KiB in all (gRPC's own default). Base64 makes a third more of these bytes, and the
 * message stands there once more, in which each byte may be three characters.
 */
const MAX_MESSAGE_BYTES = 800;
const MAX_DETAILS_BYTES = 3_000;

/** `google.rpc.Status`; `details` are ProtoJSON `Any` objects. */
export interface RpcStatus {
  readonly code: number;
  readonly message: string;
  readonly details: readonly JsonObject[];
}

/** The binary for `grpc-status-details-bin`. Left out are details of types that only their sender could write, and what is too much for a trailer. */
export function encodeRpcStatus({ code, message, details }: RpcStatus): Uint8Array {
  let room = MAX_DETAILS_BYTES;
  const packed = [];
  for (const detail of details.map(truncateViolations)) {
    const typeUrl = detail["@type"];
    const binary = DETAIL_CODECS.get(typeUrl)?.encode(detail);
    if (!binary || binary.length > room) continue;
    room -= binary.length;
    packed.push({ typeUrl, value: toBuffer(binary).toString("base64") });
  }
  return STATUS_CODEC.encode({ code, message: truncateStatusMessage(message), details: packed });
}

/** Reads what `encodeRpcStatus` or another server wrote. Throws for what is no Status. */
export function decodeRpcStatus(binary: Uint8Array): RpcStatus {
  const { code, message, details } = STATUS_CODEC.decode(binary);
  return {
    code: typeof code === "number" ? code : 0,
    message: typeof message === "string" ? message : "",
    details: Array.isArray(details) ? (details as JsonObject[]).flatMap(unpackDetail) : [],
  };
}

function unpackDetail({ typeUrl = "", value }: JsonObject): JsonObject[] {
  const type = DETAIL_CODECS.get(typeUrl);
  if (!type) return [];
  return [
    { "@type": typeUrl, ...type.decode(Buffer.from(typeof value === "string" ? value : "", "base64")) },
  ];
}

/** A message as it fits into a trailer, in whole characters: half of one, by our cut or in the text, no status can have. */
export function truncateStatusMessage(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_MESSAGE_BYTES) return bytes.toString();
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_MESSAGE_BYTES), { stream: true })}…`;
}

/** As many violations as there is room for, the first ones first. */
function truncateViolations(detail: JsonObject): JsonObject {
  const { fieldViolations } = detail;
  if (!Array.isArray(fieldViolations)) return detail;
  let room = MAX_DETAILS_BYTES;
  return {
    ...detail,
    fieldViolations: fieldViolations.filter((violation) => {
      room -= Buffer.byteLength(JSON.stringify(violation));
      return room > 0;
    }),
  };
}
