import type { IncomingMessage } from "node:http";
import { A2AError } from "../protocol/index.ts";
import type { ByteAccount } from "./byte-ledger/byte-ledger.ts";
import { createPayloadTooLargeError, decodeBodyText } from "./request-body.ts";
import { RequestBodyBuffer } from "./request-body-buffer.ts";

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
 * Reads the body of a `node:http` request with stream events, because async iteration is several times slower. Rejects
 * as soon as `contentLength`, which is 0 for a chunked body, or the bytes that have arrived exceed `maxBytes`, and does
 * not read the rest.
 */
export function readNodeBodyText(
  incoming: IncomingMessage,
  maxBytes: number,
  contentLength: number,
  account?: ByteAccount,
): Promise<string> {
  if (incoming.readableEnded) return decodeAlreadyReadBody(incoming, maxBytes);
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

async function decodeAlreadyReadBody(incoming: IncomingMessage, maxBytes: number): Promise<string> {
  const buffered = getBufferedBody(incoming);
  if (!buffered)
    throw new Error("The request body was already read; mount the listener before body parsers.");
  if (buffered.length > maxBytes) throw createPayloadTooLargeError(maxBytes);
  const text = decodeBodyText(buffered);
  if (typeof text === "string") return text;
  throw text;
}
