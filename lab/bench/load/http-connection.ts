import { connect, type Socket } from "node:net";

/** A complete HTTP response. */
export interface TimedResponse {
  readonly status: number;
  /** Time in milliseconds from writing the request to the last byte of the response. */
  readonly durationMs: number;
  /** Complete response with headers. Only set on request, because copying costs time. */
  readonly bytes: Buffer | undefined;
}

/**
 * A keep-alive connection with one request in flight at a time. It parses only as much HTTP as is needed to
 * find the end of a response, so that the load generator does not limit the measurement.
 */
export class HttpConnection {
  readonly #socket: Socket;
  readonly #connected: Promise<void>;
  #onResponse: ((error: Error | undefined, reply: TimedResponse | undefined) => void) | undefined;
  #head = "";
  #status = 0;
  /**
   * Remaining bytes of a body with `Content-Length`. -1 while the head is incomplete, and Infinity for a
   * chunked body.
   */
  #remainingBytes = -1;
  #tail = "";
  #startedAt = 0;
  #capturedChunks: Buffer[] | undefined;
  /** Called with each part of the current response, for callers that need data before its end. */
  onData: ((bytes: Buffer) => void) | undefined;

  constructor(host: string, port: number) {
    const opened = Promise.withResolvers<void>();
    this.#connected = opened.promise;
    this.#socket = connect({
      host,
      port,
      noDelay: true,
      // All reads share one buffer, so that no read allocates memory.
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

  /** Resolves when the connection is open. */
  get connected(): Promise<void> {
    return this.#connected;
  }

  /** Sends one ASCII request. `keepBytes` makes the response available as bytes. */
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
    // Chunks of JSON or SSE contain no carriage return, so these bytes can only be the last chunk.
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
