import { findHostRefusal } from "../../protocol/index.ts";
import { once } from "node:events";
import { createServer as createHttpServer } from "node:http";
import {
  createServer as createHttp2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo, Server, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { InterfacePort } from "./cards/card-rewriter.ts";
import { isThisMachine, toCanonicalOrigin, type InterfaceAddress } from "./cards/parse-interface-address.ts";
import { GrpcRelay } from "./grpc/grpc-relay.ts";
import { HttpRelay } from "./http/http-relay.ts";
import { sendProblem } from "./http/send-problem.ts";
import type { RelayContext } from "./relay-context.ts";
import { KillSwitch } from "./relayed-call.ts";

/** A port of the tap that forwards to one origin. */
interface TapListener {
  readonly port: number;
  close(): Promise<void>;
}

/** Maximum time in milliseconds for which a listener that closes waits for the last lines of its calls. */
const MAX_CALL_END_MS = 2_000;

/** Maximum number of ports for the further addresses in the cards of one target. */
const MAX_INTERFACE_PORTS = 16;

/** The ports of the tap: one for each target, and one for each further address in the cards of the targets. */
export class TapListeners {
  readonly #context: RelayContext;
  readonly #host: string;
  readonly #targets: readonly URL[];
  readonly #listeners = new Map<string, Promise<TapListener>>();
  /** The listeners for the addresses in the cards of each target. */
  readonly #interfaceKeys = new Map<URL, Set<string>>();

  constructor(context: RelayContext, host: string, targets: readonly URL[]) {
    this.#context = context;
    this.#host = host;
    this.#targets = targets;
  }

  /**
   * Returns the port for an address in a card, and starts its listener if necessary. Returns `foreign` if no target has
   * the host of the address: a card could otherwise direct the tap to any host in the network of the tap. Returns
   * `excess` if the target has the maximum number of ports: a card could otherwise occupy all ports of the machine.
   */
  async openPortForInterface(address: InterfaceAddress): Promise<InterfacePort> {
    const { protocol, origin } = address;
    const { hostname } = new URL(origin);
    const target = this.#targets.find((known) => new URL(toCanonicalOrigin(known)).hostname === hostname);
    if (!target) return "foreign";
    // All names of this machine are one host in `origin`, but a server may listen on only one of its addresses.
    const upstreamUrl = new URL(origin);
    if (isThisMachine(target.hostname)) upstreamUrl.hostname = target.hostname;
    const key = getListenerKey(protocol, upstreamUrl);
    const keys = this.#interfaceKeys.get(target) ?? new Set();
    this.#interfaceKeys.set(target, keys);
    if (!this.#listeners.has(key) && keys.size >= MAX_INTERFACE_PORTS) return "excess";
    if (!this.#listeners.has(key)) keys.add(key);
    return await this.openPort(protocol, upstreamUrl, 0);
  }

  /** Returns the port for an origin, and starts its listener if necessary. `port` 0 selects a free port. */
  async openPort(protocol: "http" | "grpc", upstreamUrl: URL, port: number): Promise<number> {
    const origin = toCanonicalOrigin(upstreamUrl);
    const key = getListenerKey(protocol, upstreamUrl);
    let listener = this.#listeners.get(key);
    if (!listener) {
      listener =
        protocol === "http"
          ? this.#startHttpListener(origin, upstreamUrl, port)
          : this.#startGrpcListener(origin, upstreamUrl, port);
      this.#listeners.set(key, listener);
    }
    return (await listener).port;
  }

  async close(): Promise<void> {
    const started = await Promise.allSettled(this.#listeners.values());
    const listeners = started.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    await Promise.all(listeners.map((listener) => listener.close()));
  }

  async #startHttpListener(origin: string, upstreamUrl: URL, port: number): Promise<TapListener> {
    const sockets = new Set<Socket>();
    const calls = new Set<Promise<void>>();
    const killSwitch = new KillSwitch(this.#context.monotonicNow, () => resetAll(sockets));
    const relay = new HttpRelay(this.#context, origin, upstreamUrl, killSwitch);
    // A stream may be open for hours, and the agent decides how long a request may take.
    const server = createHttpServer({ requestTimeout: 0 }, (request, response) => {
      // The agent receives its own host name, so that the agent cannot refuse a foreign one.
      const { host } = request.headersDistinct;
      const refusal = findHostRefusal(host, this.#host);
      if (refusal !== undefined) {
        const message = `The tap does not accept the Host header ${JSON.stringify(host?.join(", ") ?? "").slice(0, 100)}. Use the address that the tap prints.`;
        return sendProblem(response, refusal, message);
      }
      trackCall(calls, relay.relay(request, response));
    });
    const boundPort = await this.#listen(server, port, sockets, killSwitch);
    return { port: boundPort, close: () => closeServer(server, sockets, relay, calls) };
  }

  async #startGrpcListener(origin: string, upstreamUrl: URL, port: number): Promise<TapListener> {
    const sockets = new Set<Socket>();
    const calls = new Set<Promise<void>>();
    const killSwitch = new KillSwitch(this.#context.monotonicNow, () => resetAll(sockets));
    const relay = new GrpcRelay(this.#context, origin, upstreamUrl, killSwitch);
    const server = createHttp2Server();
    server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      trackCall(calls, relay.relay(stream, headers));
    });
    server.on("session", (session) => session.on("error", () => {}));
    const boundPort = await this.#listen(server, port, sockets, killSwitch);
    return { port: boundPort, close: () => closeServer(server, sockets, relay, calls) };
  }

  async #listen(server: Server, port: number, sockets: Set<Socket>, killSwitch: KillSwitch): Promise<number> {
    server.on("connection", (socket: Socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      if (killSwitch.isDown) socket.resetAndDestroy();
    });
    server.listen(port, this.#host);
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  }
}

function getListenerKey(protocol: string, upstreamUrl: URL): string {
  return `${protocol} ${toCanonicalOrigin(upstreamUrl)}`;
}

function resetAll(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) socket.resetAndDestroy();
}

function trackCall(calls: Set<Promise<void>>, call: Promise<void>): void {
  calls.add(call);
  void call.then(() => calls.delete(call));
}

/** Closes all connections, and waits until the ends of their calls are in the record. */
async function closeServer(
  server: Server,
  sockets: ReadonlySet<Socket>,
  relay: { close(): void },
  calls: ReadonlySet<Promise<void>>,
): Promise<void> {
  const closed = once(server, "close");
  server.close();
  for (const socket of sockets) socket.destroy();
  relay.close();
  await closed;
  // Node.js never closes a response that waits behind another response of the same connection.
  await Promise.race([Promise.all(calls), delay(MAX_CALL_END_MS, undefined, { ref: false })]);
}
