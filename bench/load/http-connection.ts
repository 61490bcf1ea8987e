import { connect, type Socket } from "node:net";

/** One complete HTTP response. */
export interface TimedResponse {
  readonly status: number;
  /** Milliseconds from writing the request to the last byte of the response. */
  readonly durationMs: number;
  /** The whole response with its headers; only when asked for, because copying costs. */
  readonly bytes: Buffer | undefined;
}

/**
 * A keep-alive connection that has one request under way at a time and knows only as much HTTP as it takes to see
 * where a response ends, so that the generator is not what is measured.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #connected: Promise<void>;
  #onResponse: ((error: Error | undefined, reply: TimedResponse | undefined) => void) | undefined;
  #head = "";
  #status = 0;
  /** Bytes of a body with Content-Length still to come; -1 while the head is incomplete, Infinity for chunked. */
  #remainingBytes = -1;
  #tail = "";
  #startedAt = 0;
  #capturedChunks: Buffer[] | undefined;
  /** Sees each piece of the current response, for callers that cannot wait for its end. */
  onData: ((bytes: Buffer) => void) | undefined;

  constructor(host: string, port: number) {
    const opened = Promise.withResolvers<void>();
    this.#connected = opened.promise;
    this.#socket = connect({
      host,
      port,
      noDelay: true,
      // One buffer for all reads: no allocation per piece.
      onread: {
        buffer: Buffer.allocUnsafe(64 * 1024),
        callback: (length, buffer) => {
          this.#handleData((buffer as Buffer).subarray(0, length));
          return true;
        },
      },
    });
    this.#socket.once("connect", opened.resolve);
    this.#socket.once("error", (error) => {
      opened.reject(error);
      this.#finishResponse(error);
    });
    this.#socket.once("close", () => this.#finishResponse(new Error("the server closed the connection")));
  }

  /** Resolves when connected. */
  get connected(): Promise<void> {
    return this.#connected;
  }

  /** Sends one request (ASCII). `keep`: hand the bytes of the response out. */
  send(
    request: string,
    keepBytes: boolean,
    onResponse: (error: Error | undefined, reply: TimedResponse | undefined) => void,
  ): void {
    this.#onResponse = onResponse;
    this.#head = "";
    this.#tail = "";
    this.#remainingBytes = -1;
    this.#capturedChunks = keepBytes ? [] : undefined;
    this.#startedAt = performance.now();
    this.#socket.write(request, "latin1");
  }

  request(request: string): Promise<TimedResponse> {
    return new Promise((resolve, reject) => {
      this.send(request, true, (error, reply) => (reply ? resolve(reply) : reject(error!)));
    });
  }

  close(): void {
    this.#onResponse = undefined;
    this.#socket.destroy();
  }

  #handleData(chunk: Buffer): void {
    this.#capturedChunks?.push(Buffer.from(chunk));
    this.onData?.(chunk);
    if (this.#remainingBytes === -1) {
      this.#head += chunk.toString("latin1");
      const end = this.#head.indexOf("\r\n\r\n");
      if (end === -1) return;
      this.#status = Number(this.#head.slice(9, 12));
      const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head.slice(0, end));
      if (length) {
        this.#remainingBytes = Number(length[1]) - (this.#head.length - end - 4);
      } else {
        this.#remainingBytes = Infinity;
        this.#tail = this.#head.slice(-7);
      }
    } else if (this.#remainingBytes !== Infinity) this.#remainingBytes -= chunk.length;
    else this.#tail = (this.#tail + chunk.toString("latin1", Math.max(0, chunk.length - 7))).slice(-7);
    // Data chunks of JSON or SSE never hold a carriage return, so these bytes can only be the last chunk.
    if (this.#remainingBytes === 0 || this.#tail === "\r\n0\r\n\r\n") this.#finishResponse(undefined);
  }

  #finishResponse(error: Error | undefined): void {
    const onResponse = this.#onResponse;
    if (!onResponse) return;
    this.#onResponse = undefined;
    if (error) onResponse(error, undefined);
    else {
      const bytes = this.#capturedChunks && Buffer.concat(this.#capturedChunks);
      onResponse(undefined, { status: this.#status, durationMs: performance.now() - this.#startedAt, bytes });
    }
  }
}
