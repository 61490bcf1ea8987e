import { connect, type Socket } from "node:net";

/** One complete HTTP response. */
export interface Reply {
  readonly status: number;
  /** Milliseconds from writing the request to the last byte of the response. */
  readonly ms: number;
  /** The whole response with its headers; only when asked for, because copying costs. */
  readonly bytes: Buffer | undefined;
}

/**
 * A keep-alive connection that has one request under way at a time and knows only as much HTTP as it takes to see
 * where a response ends, so that the generator is not what is measured.
 */
export class Connection {
  readonly #socket: Socket;
  readonly #opened: Promise<void>;
  #settle: ((error: Error | undefined, reply: Reply | undefined) => void) | undefined;
  #head = "";
  #status = 0;
  /** Bytes of a body with Content-Length still to come; -1 while the head is incomplete, Infinity for chunked. */
  #missing = -1;
  #tail = "";
  #began = 0;
  #kept: Buffer[] | undefined;
  /** Sees each piece of the current response, for callers that cannot wait for its end. */
  onData: ((bytes: Buffer) => void) | undefined;

  constructor(host: string, port: number) {
    const opened = Promise.withResolvers<void>();
    this.#opened = opened.promise;
    this.#socket = connect({
      host,
      port,
      noDelay: true,
      // One buffer for all reads: no allocation per piece.
      onread: {
        buffer: Buffer.allocUnsafe(64 * 1024),
        callback: (length, buffer) => {
          this.#read((buffer as Buffer).subarray(0, length));
          return true;
        },
      },
    });
    this.#socket.once("connect", opened.resolve);
    this.#socket.once("error", (error) => {
      opened.reject(error);
      this.#finish(error);
    });
    this.#socket.once("close", () => this.#finish(new Error("the server closed the connection")));
  }

  /** Resolves when connected. */
  get opened(): Promise<void> {
    return this.#opened;
  }

  /** Sends one request (ASCII). `keep`: hand the bytes of the response out. */
  send(
    request: string,
    keep: boolean,
    settle: (error: Error | undefined, reply: Reply | undefined) => void,
  ): void {
    this.#settle = settle;
    this.#head = "";
    this.#tail = "";
    this.#missing = -1;
    this.#kept = keep ? [] : undefined;
    this.#began = performance.now();
    this.#socket.write(request, "latin1");
  }

  ask(request: string): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.send(request, true, (error, reply) => (reply ? resolve(reply) : reject(error!)));
    });
  }

  close(): void {
    this.#settle = undefined;
    this.#socket.destroy();
  }

  #read(piece: Buffer): void {
    this.#kept?.push(Buffer.from(piece));
    this.onData?.(piece);
    if (this.#missing === -1) {
      this.#head += piece.toString("latin1");
      const end = this.#head.indexOf("\r\n\r\n");
      if (end === -1) return;
      this.#status = Number(this.#head.slice(9, 12));
      const length = /\r\ncontent-length: *(\d+)/i.exec(this.#head.slice(0, end));
      if (length) {
        this.#missing = Number(length[1]) - (this.#head.length - end - 4);
      } else {
        this.#missing = Infinity;
        this.#tail = this.#head.slice(-7);
      }
    } else if (this.#missing !== Infinity) this.#missing -= piece.length;
    else this.#tail = (this.#tail + piece.toString("latin1", Math.max(0, piece.length - 7))).slice(-7);
    // Data chunks of JSON or SSE never hold a carriage return, so these bytes can only be the last chunk.
    if (this.#missing === 0 || this.#tail === "\r\n0\r\n\r\n") this.#finish(undefined);
  }

  #finish(error: Error | undefined): void {
    const settle = this.#settle;
    if (!settle) return;
    this.#settle = undefined;
    if (error) settle(error, undefined);
    else {
      const bytes = this.#kept && Buffer.concat(this.#kept);
      settle(undefined, { status: this.#status, ms: performance.now() - this.#began, bytes });
    }
  }
}
