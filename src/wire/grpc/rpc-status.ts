import type { JsonObject } from "../../protocol/index.ts";
import { toBuffer } from "./field-codecs.ts";
import { type MessageCodec, createMessageCodecs } from "./message-codec.ts";

/** Codecs for the `google.rpc` messages that contain error details (A2A §10.6). */
const getGoogleRpcCodec = createMessageCodecs({
  Status: "code:int32 message details:Any[]",
  Any: "typeUrl=1 value:bytes",
  ErrorInfo: "reason=1 domain metadata:{string}",
  FieldViolation: "field=1 description",
  BadRequest: "fieldViolations=1:FieldViolation[]",
  RetryInfo: "retryDelay=1:Duration",
});

const STATUS_CODEC = getGoogleRpcCodec("Status");
const TYPE_URL_PREFIX = "type.googleapis.com/google.rpc.";
const DETAIL_CODECS = new Map<unknown, MessageCodec>(
  ["ErrorInfo", "BadRequest", "RetryInfo"].map((name) => [TYPE_URL_PREFIX + name, getGoogleRpcCodec(name)]),
);

/**
 * Maximum size of a status message in bytes. By default, gRPC implementations reject trailers over 8 KiB.
 * The base64 encoding of the binary status adds one third to its size. The trailer also contains the
 * message as text. An escaped byte of this text takes three characters.
 */
const MAX_STATUS_MESSAGE_BYTES = 800;
/** Maximum size of all error details in a status, in bytes. */
const MAX_STATUS_DETAILS_BYTES = 3_000;

/** A decoded `google.rpc.Status`. `details` are ProtoJSON `Any` objects. */
interface RpcStatus {
  readonly code: number;
  readonly message: string;
  readonly details: readonly JsonObject[];
}

/**
 * Encodes the value of the binary `grpc-status-details-bin` metadata. The encoder omits details of unknown
 * types, because it has no codec for them. The encoder also omits details that exceed the trailer limit.
 */
export function encodeRpcStatus({ code, message, details }: RpcStatus): Uint8Array {
  let remainingBytes = MAX_STATUS_DETAILS_BYTES;
  const packed = [];
  for (const detail of details.map(truncateFieldViolations)) {
    const typeUrl = detail["@type"];
    const binary = DETAIL_CODECS.get(typeUrl)?.encode(detail);
    if (!binary || binary.length > remainingBytes) continue;
    remainingBytes -= binary.length;
    packed.push({ typeUrl, value: toBuffer(binary).toString("base64") });
  }
  return STATUS_CODEC.encode({ code, message: truncateStatusMessage(message), details: packed });
}

/** Decodes a `google.rpc.Status` message from any server. Throws if the bytes are not a valid status. */
export function decodeRpcStatus(binary: Uint8Array): RpcStatus {
  const { code, message, details } = STATUS_CODEC.decode(binary);
  return {
    code: typeof code === "number" ? code : 0,
    message: typeof message === "string" ? message : "",
    details: Array.isArray(details) ? (details as JsonObject[]).flatMap(unpackDetail) : [],
  };
}

function unpackDetail({ typeUrl = "", value }: JsonObject): JsonObject[] {
  const codec = DETAIL_CODECS.get(typeUrl);
  if (!codec) return [];
  return [
    { "@type": typeUrl, ...codec.decode(Buffer.from(typeof value === "string" ? value : "", "base64")) },
  ];
}

/**
 * Truncates a status message to the trailer limit without splitting a character. The function replaces
 * unpaired surrogates, because a status must be valid UTF-8.
 */
export function truncateStatusMessage(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_STATUS_MESSAGE_BYTES) return bytes.toString();
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_STATUS_MESSAGE_BYTES), { stream: true })}…`;
}

/**
 * Truncates the list of violations in an error detail to the size limit. The truncated list contains the
 * first violations.
 */
function truncateFieldViolations(detail: JsonObject): JsonObject {
  const { fieldViolations } = detail;
  if (!Array.isArray(fieldViolations)) return detail;
  let remainingBytes = MAX_STATUS_DETAILS_BYTES;
  return {
    ...detail,
    fieldViolations: fieldViolations.filter((violation) => {
      remainingBytes -= Buffer.byteLength(JSON.stringify(violation));
      return remainingBytes > 0;
    }),
  };
}
