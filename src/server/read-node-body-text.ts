import { IncomingMessage } from "node:http";
import { A2AError } from "../protocol/index.ts";
import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";
import { createPayloadTooLargeError, decodeBodyText, RequestBodyBuffer } from "./request-body.ts";

const NO_BYTES = Buffer.alloc(0);

/**
 * A request of the HTTP server that `listen` starts. A body that arrives in one piece stays out of the stream of the
 * request, because the events of the stream cost about a tenth of the time that Node needs for a request. Every other use
 * of the request is unchanged: as soon as something reads the stream, the stream contains the body.
 */
export class UnstreamedRequest extends IncomingMessage {
  #body: Buffer | undefined;
  #isStreamed = false;

  /** The HTTP parser calls `push` with each piece of the body, and with `null` at the end. */
  override push(chunk: Buffer | null): boolean {
    if (this.#isStreamed) return super.push(chunk);
    if (this.#body === undefined && chunk?.length === Number(this.headers["content-length"])) {
      this.#body = chunk;
      return true;
    }
    // Node has received the complete body, and can receive the next request of the connection.
    if (chunk === null && this.#body) return true;
    this.#stream();
    return super.push(chunk);
  }

  override _read(size: number): void {
    if (!this.#isStreamed) this.#stream();
    // oxlint-disable-next-line no-underscore-dangle -- The name of Node.
    super._read(size);
  }

  /** True if the complete body has arrived, perhaps before Node sets `complete`. */
  get hasCompleteBody(): boolean {
    return this.#body !== undefined;
  }

  /** Returns the complete body, which the stream then no longer contains. Otherwise, returns `undefined`. */
  takeBody(): Buffer | undefined {
    const body = this.#body;
    if (!body || this.#isStreamed) return undefined;
    this.#body = NO_BYTES;
    return body;
  }

  #stream(): void {
    this.#isStreamed = true;
    if (!this.#body) return;
    super.push(this.#body);
    if (this.complete) super.push(null);
  }
}

/**
 * Returns the request body that the host app has already read. Cloud functions store the bytes of the request
 * body in `rawBody`. The middleware `express.json()` stores the parsed request body in `body`.
 * `getBufferedBody` serializes the parsed body again.
 */
export function getBufferedBody(
  incoming: IncomingMessage & { readonly rawBody?: unknown; readonly body?: unknown },
): Buffer | undefined {
  const { rawBody, body } = incoming;
  if (Buffer.isBuffer(rawBody)) return rawBody;
  if (Buffer.isBuffer(body)) return body;
  if (body === undefined) return undefined;
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
}

/**
 * Reads the body of a `node:http` request with stream events, because async iteration is several times slower. Returns a
 * complete body without a promise, or throws. Rejects as soon as `contentLength`, which is 0 for a chunked body, or the
 * bytes that have arrived exceed `maxBytes`, and does not read the rest.
 */
export function readNodeBodyText(
  incoming: IncomingMessage,
  maxBytes: number,
  contentLength: number,
  account?: ByteAccount,
): string | Promise<string> {
  if (incoming.readableEnded) return decodeCompleteBody(getBufferedBody(incoming), maxBytes);
  const received = incoming instanceof UnstreamedRequest ? incoming.takeBody() : undefined;
  if (received) return decodeCompleteBody(received, maxBytes);
  if (contentLength > maxBytes) return Promise.reject(createPayloadTooLargeError(maxBytes));
  return new Promise((resolve, reject) => {
    const body = new RequestBodyBuffer(maxBytes, incoming.complete ? undefined : account);
    const stop = (): void => {
      incoming.off("data", readChunk).off("end", finish).off("error", fail);
      // The request may still report that its connection has ended.
      incoming.on("error", () => {});
      body.release();
    };
    const readChunk = (chunk: Buffer): void => {
      try {
        body.add(chunk, chunk.length === contentLength);
      } catch (error) {
        stop();
        incoming.pause();
        reject(A2AError.from(error));
      }
    };
    const finish = (): void => {
      const text = decodeBodyText(body.toBytes());
      body.release();
      if (typeof text === "string") resolve(text);
      else reject(text);
    };
    const fail = (cause: unknown): void => {
      stop();
      const text = "The connection ended before the request body was complete; send the request again.";
      reject(new A2AError("PARSE_ERROR", text, { cause }));
    };
    incoming.on("data", readChunk).on("end", finish).on("error", fail);
  });
}

function decodeCompleteBody(body: Buffer | undefined, maxBytes: number): string {
  if (!body) throw new Error("The request body was already read; mount the listener before body parsers.");
  if (body.length > maxBytes) throw createPayloadTooLargeError(maxBytes);
  const text = decodeBodyText(body);
  if (typeof text === "string") return text;
  throw text;
}
