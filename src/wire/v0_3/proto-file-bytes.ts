import { isDeviationAccepted, type PeerLeniency } from "../leniency.ts";

/**
 * The content of the `bytes` field `file_with_bytes`: the bytes of the file, as the proto defines, or the
 * base64 text of these bytes. The SDKs for 0.3 in Python, Go, and Java write and expect the text
 * (a2aproject/a2a-go#367). The SDK in JavaScript writes and expects the bytes.
 */
export type ProtoFileBytes = "bytes" | "base64-text";

/** The user agents of the SDKs that expect base64 text, over gRPC and over HTTP. */
const BASE64_TEXT_USER_AGENT = /^(?:grpc-(?:python|go|java)|python-|Go-http-client|Java-http-client|Java\/)/;

/** Returns the content of `file_with_bytes` that a client expects. */
export function selectProtoFileBytes(
  userAgent: string | undefined,
  leniency: PeerLeniency = "all",
): ProtoFileBytes {
  const isTextExpected = BASE64_TEXT_USER_AGENT.test(userAgent ?? "");
  return isTextExpected && isDeviationAccepted("base64TextOfFile", leniency) ? "base64-text" : "bytes";
}

/** Encodes the base64 of a file as ProtoJSON, which encodes a `bytes` field as base64. */
export function toProtoFileBytes(base64: string, fileBytes: ProtoFileBytes): string {
  return fileBytes === "bytes" ? base64 : btoa(base64);
}

/**
 * Decodes the ProtoJSON of `file_with_bytes` to the base64 of the file. Bytes that are base64 text count as
 * base64 text. A file that itself consists of base64 text is therefore decoded once too often if its sender
 * follows the proto.
 */
export function fromProtoFileBytes(protoJson: string): string {
  const content = atob(protoJson);
  return isBase64Text(content) ? content : protoJson;
}

/** Returns whether a text is non-empty base64 with padding and without line breaks. */
function isBase64Text(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text);
}
