import { A2AError } from "../protocol/index.ts";
import { parseBoundedJson } from "../wire/index.ts";
import type { HttpRequest } from "./http-exchange.ts";

const UTF8_DECODER = /* @__PURE__ */ new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const JSON_MEDIA_TYPES = new Set(["application/json", "application/a2a+json"]);

/** Decodes a complete request body, and returns an error if the body is not UTF-8. */
export function decodeBodyText(bytes: Uint8Array): string | A2AError {
  try {
    return UTF8_DECODER.decode(bytes);
  } catch (cause) {
    const text = "The request body is not UTF-8; send JSON encoded as UTF-8.";
    return new A2AError("PARSE_ERROR", text, { cause });
  }
}

export function createPayloadTooLargeError(maxBytes: number): A2AError {
  const limit = `${maxBytes.toLocaleString("en")} bytes`;
  return new A2AError("PAYLOAD_TOO_LARGE", `The request body exceeds ${limit}; send large files by URL.`);
}

/**
 * Throws CONTENT_TYPE_NOT_SUPPORTED if the headers of a request do not declare an uncompressed JSON body. The
 * required content type also prevents cross-site requests with a body, because browsers send JSON to another site
 * only after a CORS preflight. `CrossOriginGuard` also refuses those without a body.
 */
export function assertJsonContentType(request: HttpRequest): void {
  const encoding = request.header("content-encoding");
  if (encoding !== undefined && encoding !== "identity") {
    const text = `The request body has the content encoding ${encoding}; send it uncompressed.`;
    throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", text);
  }
  const contentType = request.header("content-type");
  if (contentType === "application/json") return;
  const mediaType = contentType?.split(";", 1)[0]?.trim().toLowerCase();
  if (mediaType !== undefined && JSON_MEDIA_TYPES.has(mediaType)) return;
  const problem = contentType ? `is ${JSON.stringify(contentType.slice(0, 80))}` : "has no Content-Type";
  const text = `The request body ${problem}; send "Content-Type: application/json".`;
  throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", text);
}

/**
 * Reads and parses a JSON request body of at most `maxJsonValues` values. Returns the length of the body in characters,
 * too. The JSON is `undefined` if the body is empty. For example, a CancelTask request can have an empty body.
 */
export async function readJsonBody(
  request: HttpRequest,
  { maxBodyBytes, maxJsonValues }: { readonly maxBodyBytes: number; readonly maxJsonValues: number },
): Promise<{ readonly json: unknown; readonly length: number }> {
  const text = await request.text(maxBodyBytes);
  const { length } = text;
  if (length === 0) return { json: undefined, length };
  assertJsonContentType(request);
  try {
    return { json: parseBoundedJson(text, maxJsonValues), length };
  } catch (cause) {
    if (cause instanceof A2AError) throw cause;
    const why = cause instanceof Error ? cause.message : "unknown";
    const message = `The request body is not JSON (${why}); send one JSON object as UTF-8.`;
    throw new A2AError("PARSE_ERROR", message, { cause });
  }
}
