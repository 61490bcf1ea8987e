import type { ServerResponse } from "node:http";
import type { StreamInterruption } from "../engine/index.ts";
import type { A2AError } from "../protocol/index.ts";
import type { WriteStallWatch } from "./byte-ledger/write-stall-watch.ts";
import type { HttpReply, HttpRequest, ResponseSink } from "./http-exchange.ts";
import { iterateSlices, MAX_WRITE_LENGTH } from "./write-text-in-slices.ts";

/** Returns `latin1` if the text is ASCII, because Node writes `latin1` text much faster than `utf8` text. */
export function selectResponseTextEncoding(
  text: string,
  byteLength: number = Buffer.byteLength(text),
): "latin1" | "utf8" {
  return byteLength === text.length ? "latin1" : "utf8";
}

type ResponseHead = Pick<HttpReply, "status" | "headers">;

/**
 * Writes a response body to a `node:http` response. Bytes that wait for the client count in the byte account of the
 * request. A client that takes no byte for too long is disconnected.
 */
export class NodeResponseSink implements ResponseSink {
  readonly #outgoing: ServerResponse;
  readonly #request: Pick<HttpRequest, "byteAccount">;
  readonly #stallWatch: WriteStallWatch | undefined;
  #head: ResponseHead | undefined;
  /** Why the server itself has ended the connection. */
  #interruption: StreamInterruption | undefined;
  /** Number of characters of the current text that follow after the current slice. */
  #laterLength = 0;

  /** The sink writes `head` with the first text. Without `head`, the caller has written the headers. */
  constructor(
    outgoing: ServerResponse,
    request: Pick<HttpRequest, "byteAccount">,
    stallWatch?: WriteStallWatch,
    head?: ResponseHead,
  ) {
    this.#head = head;
    this.#outgoing = outgoing;
    this.#request = request;
    this.#stallWatch = stallWatch;
    // Without a listener, a write error after a disconnect would end the process.
    outgoing.on("error", () => outgoing.destroy());
  }

  /** True if the connection has ended. */
  get isDestroyed(): boolean {
    return this.#outgoing.destroyed;
  }

  reserve(bytes: number): A2AError | undefined {
    const account = this.#request.byteAccount;
    if (account && !account.tryReservePendingBytes(bytes)) return account.createRefusal("responses");
    return undefined;
  }

  write(data: string | Uint8Array): Promise<void> | undefined {
    // The client must take a slice within the time limit, and cannot take a text of any length.
    if (typeof data === "string" && data.length > MAX_WRITE_LENGTH) return this.#writeInSlices(data);
    return this.#write(data);
  }

  async #writeInSlices(text: string): Promise<void> {
    this.#laterLength = text.length;
    for (const slice of iterateSlices(text)) {
      if (this.isDestroyed) break;
      this.#laterLength -= slice.length;
      await this.#write(slice);
      // A socket can take several slices within one turn of the event loop. Nothing follows the last slice.
      if (this.#laterLength > 0) await new Promise(setImmediate);
    }
    this.#laterLength = 0;
    this.#request.byteAccount?.tryReservePendingBytes(0);
  }

  #write(data: string | Uint8Array): Promise<void> | undefined {
    const outgoing = this.#outgoing;
    this.#writeHead();
    const isTaken =
      typeof data === "string"
        ? outgoing.write(data, selectResponseTextEncoding(data))
        : outgoing.write(data);
    if (!isTaken && !outgoing.destroyed) return this.#waitUntilTaken("drain");
    this.#request.byteAccount?.tryReservePendingBytes(this.#laterLength);
    return undefined;
  }

  /** A body of one text has a length, because Node writes a chunked body in five parts. */
  end(lastText = ""): void {
    const byteLength = Buffer.byteLength(lastText);
    this.#writeHead(byteLength);
    this.#outgoing.end(lastText, selectResponseTextEncoding(lastText, byteLength));
    this.watchUnfinishedEnd();
  }

  #writeHead(contentLength?: number): void {
    const head = this.#head;
    if (!head) return;
    this.#head = undefined;
    const { status, headers } = head;
    this.#outgoing.writeHead(
      status,
      contentLength === undefined ? headers : { ...headers, "content-length": contentLength },
    );
  }

  /** Accounts for the last bytes of an ended response until the client has taken them. */
  watchUnfinishedEnd(): void {
    const outgoing = this.#outgoing;
    if (outgoing.writableLength > 0 && !outgoing.destroyed) void this.#waitUntilTaken("finish");
  }

  onClose(callback: (interruption?: StreamInterruption) => void): void {
    const report = (): void => callback(this.#findInterruption());
    // A destroyed response emits no further `close` event.
    if (this.#outgoing.destroyed) report();
    else this.#outgoing.once("close", report);
  }

  /**
   * Returns why the connection ended before the response. A client that closes the connection in good order sends FIN,
   * which causes no error. A broken connection causes an error such as `ECONNRESET`.
   */
  #findInterruption(): StreamInterruption | undefined {
    if (this.#interruption || this.#outgoing.writableFinished) return this.#interruption;
    const { errored } = this.#outgoing.req.socket;
    if (!errored) return { reason: "canceled" };
    return { reason: "cut", error: "code" in errored ? String(errored.code) : errored.message };
  }

  /** Accounts for the bytes that the client has not taken, until `event` or the end of the connection. */
  #waitUntilTaken(event: "drain" | "finish"): Promise<void> {
    const outgoing = this.#outgoing;
    const { byteAccount } = this.#request;
    if (byteAccount && !byteAccount.tryReservePendingBytes(outgoing.writableLength + this.#laterLength)) {
      byteAccount.close();
      this.#interruption = { reason: "cut", error: "RESOURCE_EXHAUSTED" };
      outgoing.destroy();
      return Promise.resolve();
    }
    let stopWatch: (() => void) | undefined;
    const startWatch = (): void => {
      const holder = byteAccount?.holder ?? { remoteAddress: undefined };
      stopWatch = this.#stallWatch?.watch(holder, () => {
        this.#interruption = { reason: "stalled" };
        outgoing.destroy();
      });
    };
    // The response to a pipelined request has no socket until the previous response ends.
    if (outgoing.socket) startWatch();
    else outgoing.once("socket", startWatch);
    return new Promise((resolve) => {
      const resume = (): void => {
        outgoing.off(event, resume);
        outgoing.off("close", resume);
        outgoing.off("socket", startWatch);
        stopWatch?.();
        byteAccount?.tryReservePendingBytes(this.#laterLength);
        resolve();
      };
      outgoing.on(event, resume);
      outgoing.on("close", resume);
    });
  }
}
