import { request, type IncomingMessage } from "node:http";

/** One server-sent event as received. */
export interface SseFrame {
  readonly id: number;
  readonly data: string;
}

export interface StreamRequest {
  readonly url: string;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /** Breaks the connection. */
  readonly signal?: AbortSignal;
  /** Address from which the request comes, for example 127.0.0.2. */
  readonly localAddress?: string;
}

/**
 * Reads an event stream from a raw socket without using our client code. `cutAfter` closes the connection
 * after that many bytes of the body, even within an event, and drops the rest.
 */
export async function* readSseStream(
  request: StreamRequest,
  cutAfter: number = Infinity,
): AsyncGenerator<SseFrame> {
  const response = await openStream(request);
  let remaining = cutAfter;
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const bytes of response as AsyncIterable<Buffer>) {
      text += decoder.decode(bytes.subarray(0, remaining), { stream: true });
      remaining -= bytes.length;
      const blocks = text.split(/\r?\n\r?\n/);
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const frame = parseFrame(block);
        if (frame) yield frame;
      }
      if (remaining <= 0) return;
    }
  } finally {
    response.destroy();
  }
}

function openStream({ url, headers, body, signal, localAddress }: StreamRequest): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: "POST",
      agent: false,
      signal,
      localAddress,
      headers: {
        "a2a-version": "1.0",
        "content-type": "application/json",
        accept: "text/event-stream",
        ...headers,
      },
    });
    outgoing.on("error", reject);
    outgoing.on("response", (response) => {
      const type = response.headers["content-type"] ?? "";
      if (response.statusCode === 200 && type.startsWith("text/event-stream")) resolve(response);
      else readRefusal(response).then(reject, reject);
    });
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

async function readRefusal(response: IncomingMessage): Promise<Error> {
  const chunks = (await response.toArray()) as Buffer[];
  return new Error(`no stream, but ${response.statusCode}: ${Buffer.concat(chunks).toString()}`);
}

/** Comments have no data and are not events. */
function parseFrame(block: string): SseFrame | undefined {
  const lines = block.split(/\r?\n/);
  const value = (field: string): string | undefined =>
    lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2);
  const data = value("data");
  return data === undefined ? undefined : { id: Number(value("id")), data };
}
