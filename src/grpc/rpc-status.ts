import type { JsonObject } from "../protocol/index.ts";
import { toBuffer } from "./field-codecs.ts";
import { type MessageCodec, createMessageCodecs } from "./message-codec.ts";

/** Codecs for the `google.rpc` messages of error details (A2A §10.6). */
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
 * Maximum size of the message in a status, in bytes. gRPC implementations reject trailers over 8 KiB by
 * default. Base64 adds a third to the binary status. The message is also sent a second time as text, in which
 * each byte may be escaped to three characters.
 */
const MAX_MESSAGE_BYTES = 800;
/** Maximum size of all details in a status, in bytes. */
const MAX_DETAILS_BYTES = 3_000;

/** A decoded `google.rpc.Status`. `details` are ProtoJSON `Any` objects. */
interface RpcStatus {
  readonly code: number;
  readonly message: string;
  readonly details: readonly JsonObject[];
}

/**
 * Encodes the binary `grpc-status-details-bin` metadata. Details of unknown types are omitted, because they
 * have no codec. Details that exceed the trailer limit are omitted too.
 */
export function encodeRpcStatus({ code, message, details }: RpcStatus): Uint8Array {
  let remainingBytes = MAX_DETAILS_BYTES;
  const packed = [];
  for (const detail of details.map(truncateViolations)) {
    const typeUrl = detail["@type"];
    const binary = DETAIL_CODECS.get(typeUrl)?.encode(detail);
    if (!binary || binary.length > remainingBytes) continue;
    remainingBytes -= binary.length;
    packed.push({ typeUrl, value: toBuffer(binary).toString("base64") });
  }
  return STATUS_CODEC.encode({ code, message: truncateStatusMessage(message), details: packed });
}

/** Decodes a `google.rpc.Status` of any server. Throws if the bytes are not a valid status. */
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
 * Truncates a message to the trailer limit without splitting a character. Unpaired surrogates are replaced,
 * because a status must be valid UTF-8.
 */
export function truncateStatusMessage(text: string): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_MESSAGE_BYTES) return bytes.toString();
  return `${new TextDecoder().decode(bytes.subarray(0, MAX_MESSAGE_BYTES), { stream: true })}…`;
}

/** Truncates the violations of a detail to the limit. The first violations are kept. */
function truncateViolations(detail: JsonObject): JsonObject {
  const { fieldViolations } = detail;
  if (!Array.isArray(fieldViolations)) return detail;
  let remainingBytes = MAX_DETAILS_BYTES;
  return {
    ...detail,
    fieldViolations: fieldViolations.filter((violation) => {
      remainingBytes -= Buffer.byteLength(JSON.stringify(violation));
      return remainingBytes > 0;
    }),
  };
}
