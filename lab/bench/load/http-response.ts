/** A parsed HTTP/1.1 response. */
export interface HttpResponse {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** Parses a complete response with or without chunked encoding. */
export function parseHttpResponse(bytes: Buffer): HttpResponse {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) throw new Error("the response has no complete head");
  const [line = "", ...fields] = bytes.toString("latin1", 0, end).split("\r\n");
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(":");
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
    }),
  );
  const rest = bytes.subarray(end + 4);
  const body = headers["transfer-encoding"] === "chunked" ? decodeChunkedBody(rest) : rest;
  return { status: Number(line.split(" ")[1]), headers, body: body.toString("utf8") };
}

function decodeChunkedBody(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const lineEnd = bytes.indexOf("\r\n", at);
    const size = lineEnd === -1 ? 0 : Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (!size) return Buffer.concat(pieces);
    pieces.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}

/** Splits an SSE body into its frames, each with its final blank line. */
export function splitSseFrames(body: string): string[] {
  return body.split(/(?<=\n\n)/);
}
