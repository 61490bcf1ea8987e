/** Maximum size of a request body in bytes. */
const MAX_BODY_BYTES = 10 * 2 ** 20;

/**
 * Returns the reply 413 if Content-Length exceeds the limit. Otherwise returns the request, whose body fails at the
 * limit.
 */
export function limitRequestBody(request: Request): Request | Response {
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) {
    const text = `The request body is larger than ${MAX_BODY_BYTES.toLocaleString("en")} bytes; send files by URL.\n`;
    return new Response(text, { status: 413 });
  }
  if (!request.body || request.headers.has("content-length")) return request;
  let size = 0;
  const limiter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      size += chunk.length;
      if (size > MAX_BODY_BYTES) controller.error(new Error("The request body is too large."));
      else controller.enqueue(chunk);
    },
  });
  const init = { method: request.method, body: request.body.pipeThrough(limiter), duplex: "half" } as const;
  return new Request(request, init);
}
