import { A2AError } from "../../protocol/index.ts";
import { parseBoundedJson } from "../../wire/index.ts";

/** Maximum size in bytes of the body of a message, which can contain files. */
export const MAX_MESSAGE_BYTES: number = 16 * 2 ** 20;
/** Maximum size in bytes of other bodies, which contain a URL or credentials. */
const MAX_SMALL_BODY_BYTES = 64 * 2 ** 10;

/**
 * Reads the JSON body of a request. Rejects with PAYLOAD_TOO_LARGE above `maxBytes` or with too many JSON values, and with
 * PARSE_ERROR for other texts.
 */
export async function readJsonBody(
  request: Request,
  maxBytes: number = MAX_SMALL_BODY_BYTES,
): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? ""))
    throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", `Send "Content-Type: application/json".`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw createBodyTooLargeError(maxBytes);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > maxBytes) throw createBodyTooLargeError(maxBytes);
    chunks.push(chunk);
  }
  try {
    return parseBoundedJson(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (cause) {
    if (cause instanceof A2AError) throw cause;
    throw new A2AError("PARSE_ERROR", "The body is not JSON; send one JSON object.", { cause });
  }
}

function createBodyTooLargeError(maxBytes: number): A2AError {
  const advice = maxBytes === MAX_MESSAGE_BYTES ? "send files by URL" : "only messages may be larger";
  const limit = maxBytes.toLocaleString("en");
  return new A2AError("PAYLOAD_TOO_LARGE", `The body is larger than ${limit} bytes; ${advice}.`);
}
