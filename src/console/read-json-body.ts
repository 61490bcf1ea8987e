import { A2AError } from "../protocol/index.ts";

/** Maximum size of a request body in bytes, which limits the files in a message. */
const MAX_BODY_BYTES = 16 * 2 ** 20;

/** Reads the JSON body of a request. Rejects with PAYLOAD_TOO_LARGE above 16 MiB, and with PARSE_ERROR for other texts. */
export async function readJsonBody(request: Request): Promise<unknown> {
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? ""))
    throw new A2AError("CONTENT_TYPE_NOT_SUPPORTED", `Send "Content-Type: application/json".`);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of (request.body ?? []) as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES)
      throw new A2AError("PAYLOAD_TOO_LARGE", "The body is larger than 16 MiB; send files by URL.");
    chunks.push(chunk);
  }
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)));
  } catch (cause) {
    throw new A2AError("PARSE_ERROR", "The body is not JSON; send one JSON object.", { cause });
  }
}
