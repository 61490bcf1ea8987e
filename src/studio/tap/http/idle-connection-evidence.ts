import type { Agent } from "node:http";
import type { Duplex } from "node:stream";

/**
 * Observes how an agent treats idle connections. A request on a connection that the agent is closing fails, and the
 * sender cannot know whether the agent has received the request.
 */
export class IdleConnectionEvidence {
  readonly #pool: Agent;
  readonly #idle = new WeakSet<Duplex>();
  readonly #observed = new WeakSet<Duplex>();
  #isKept = false;
  #isClosed = false;

  /** `pool` closes connections that are idle for its `timeout`. */
  constructor(pool: Agent) {
    this.#pool = pool;
    const keepSocketAlive = pool.keepSocketAlive.bind(pool);
    const reuseSocket = pool.reuseSocket.bind(pool);
    pool.keepSocketAlive = (socket) => {
      this.#observe(socket);
      this.#idle.add(socket);
      return keepSocketAlive(socket);
    };
    pool.reuseSocket = (socket, request) => {
      this.#idle.delete(socket);
      reuseSocket(socket, request);
    };
  }

  /**
   * Whether a request with side effects may use the pool. Before that, one idle connection must have stayed open until
   * the pool closed it, and the agent must never have closed an idle connection. A connection that the pool must open
   * is always safe.
   */
  get allowsReuse(): boolean {
    return (this.#isKept && !this.#isClosed) || this.#isPoolEmpty();
  }

  #isPoolEmpty(): boolean {
    return Object.keys(this.#pool.sockets).length === 0 && Object.keys(this.#pool.freeSockets).length === 0;
  }

  #observe(socket: Duplex): void {
    if (this.#observed.has(socket)) return;
    this.#observed.add(socket);
    socket.on("timeout", () => {
      if (this.#idle.has(socket)) this.#isKept = true;
      // The pool closes the connection.
      this.#idle.delete(socket);
    });
    for (const event of ["end", "close"] as const)
      socket.once(event, () => {
        if (this.#idle.delete(socket)) this.#isClosed = true;
      });
  }
}
