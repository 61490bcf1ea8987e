import { A2AError } from "../../protocol/index.ts";

/** Reads the body of a request as text, and rejects if the body exceeds the limit. */
export async function readRequestBodyText(request: Request, maxBytes: number): Promise<string> {
  // Browsers send this content type to other origins only after a preflight request, so a foreign page cannot
  // send a request without permission.
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? ""))
    throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", `Send "Content-Type: application/json".`);
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw createBodyTooLargeError(maxBytes);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let size = 0;
  try {
    for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
      size += chunk.length;
      if (size > maxBytes) break;
      text += decoder.decode(chunk, { stream: true });
    }
    if (size <= maxBytes) return text + decoder.decode();
  } catch (cause) {
    // The server refuses bodies that exceed the caller's share.
    if (cause instanceof A2AError) throw cause;
    throw new A2AError("PARSE_ERROR", "The body could not be read as UTF-8.", { cause });
  }
  throw createBodyTooLargeError(maxBytes);
}

function createBodyTooLargeError(maxBytes: number): A2AError {
  const limit = maxBytes.toLocaleString("en");
  return new A2AError("PAYLOAD_TOO_LARGE", `The body is larger than ${limit} bytes. Send files by URL.`);
}
