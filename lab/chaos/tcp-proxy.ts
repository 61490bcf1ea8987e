import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/**
 * Forwards TCP connections to another port of this machine. During a partition, bytes wait in both directions and
 * connections stay open. Afterwards, the waiting bytes arrive, as after a repaired network link.
 */
export class TcpProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #targetHost: string;
  #targetPort: number;
  #isPartitioned = false;

  private constructor(targetPort: number, targetHost: string) {
    this.#targetPort = targetPort;
    this.#targetHost = targetHost;
    this.#server = createServer((socket) => this.#forward(socket));
  }

  static async listen(
    targetPort: number,
    { host = "127.0.0.1", targetHost = "127.0.0.1" }: { host?: string; targetHost?: string } = {},
  ): Promise<TcpProxy> {
    const proxy = new TcpProxy(targetPort, targetHost);
    await new Promise<void>((resolve) => proxy.#server.listen(0, host, resolve));
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Returns a URL with the port of the proxy. */
  toProxyUrl(url: string): string {
    return Object.assign(new URL(url), { port: String(this.port) }).href;
  }

  /** Stops to forward bytes, also those of new connections. */
  beginPartition(): void {
    this.#isPartitioned = true;
    for (const socket of this.#sockets) socket.pause();
  }

  endPartition(): void {
    this.#isPartitioned = false;
    for (const socket of this.#sockets) socket.resume();
  }

  /** Stops to forward the bytes of all current connections, which stay open. New connections work. */
  abandonConnections(): void {
    for (const socket of this.#sockets) socket.pause();
  }

  /** Forwards new connections to another port, and closes the old connections. */
  redirect(targetPort: number): void {
    this.#targetPort = targetPort;
    this.closeConnections();
  }

  closeConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.closeConnections();
  }

  #forward(socket: Socket): void {
    const upstream = connect(this.#targetPort, this.#targetHost);
    for (const [from, to] of [
      [socket, upstream],
      [upstream, socket],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay();
      from.on("data", (bytes) => to.write(bytes));
      from.on("end", () => to.end());
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      if (this.#isPartitioned) from.pause();
    }
  }
}
