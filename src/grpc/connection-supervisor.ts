import type { ServerHttp2Session } from "node:http2";

/** Time in milliseconds in which a client must reply to an HTTP/2 ping. */
const PING_REPLY_MS = 20_000;
/** Time in milliseconds in which a client must close a connection that the server no longer uses. */
const CLOSE_REPLY_MS = 5_000;

/** Time in milliseconds after which the supervisor closes a connection without calls. */
const IDLE_CONNECTION_MS = 300_000;

/** Closes an HTTP/2 connection that has no calls for a while, or whose client does not reply to pings. */
export class ConnectionSupervisor {
  readonly #session: ServerHttp2Session;
  readonly #idleTimer: NodeJS.Timeout;
  #openCalls = 0;

  /** `keepaliveMs` is the time between two HTTP/2 pings, in milliseconds. 0 disables pings. */
  constructor(session: ServerHttp2Session, keepaliveMs: number) {
    this.#session = session;
    this.#idleTimer = setTimeout(() => {
      if (this.#openCalls === 0) closeConnection(this.#session);
    }, IDLE_CONNECTION_MS).unref();
    const pings = keepaliveMs > 0 ? setInterval(() => this.#ping(), keepaliveMs).unref() : undefined;
    session.once("close", () => {
      clearInterval(pings);
      clearTimeout(this.#idleTimer);
    });
  }

  countOpenedCall(): void {
    this.#openCalls++;
  }

  countClosedCall(): void {
    this.#openCalls--;
    if (this.#openCalls === 0 && !this.#session.destroyed) this.#idleTimer.refresh();
  }

  #ping(): void {
    if (this.#session.destroyed || this.#session.closed) return;
    const timer = setTimeout(() => this.#session.destroy(), PING_REPLY_MS).unref();
    // The limit of unanswered pings is ten.
    if (!this.#session.ping(() => clearTimeout(timer))) this.#session.destroy();
  }
}

/** Closes a connection, and destroys it if the client keeps it open. */
function closeConnection(session: ServerHttp2Session): void {
  const timer = setTimeout(() => session.destroy(), CLOSE_REPLY_MS).unref();
  session.close(() => clearTimeout(timer));
}
