import { once } from "node:events";
import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { status as GRPC_STATUS_CODES } from "@grpc/grpc-js";
import { routeGrpcRequest, type RoutedGrpcMethod, type RoutedGrpcRequest } from "./grpc-request-headers.ts";
import { GrpcServerCall, type GrpcResponseOrFailure } from "./grpc-server-call.ts";
import type { GrpcService } from "./grpc-service.ts";
import { buildResponseHeaders } from "./response-headers.ts";

/** TLS certificates of a gRPC server, in PEM format. */
export interface ServerTls {
  readonly key: string | Uint8Array;
  readonly cert: string | Uint8Array;
  /**
   * PEM certificate of the authority that signs client certificates. If a certificate authority is set,
   * the server rejects clients without a valid client certificate.
   */
  readonly clientCa?: string | Uint8Array;
}

/** Options for `startGrpcListener`. */
export interface GrpcListenerOptions {
  readonly services: readonly GrpcService[];
  readonly host: string;
  readonly port: number;
  readonly tls: ServerTls | undefined;
  /**
   * Maximum size of a request message in bytes. The server rejects larger requests with
   * `RESOURCE_EXHAUSTED` before it reads them.
   */
  readonly maxRequestBytes: number;
  /** Time in milliseconds in which a request message must arrive completely. */
  readonly receiveMs: number;
  /** Idle time in milliseconds before the server sends an HTTP/2 ping. 0 disables pings. */
  readonly keepaliveMs: number;
  /** Called with each new connection, before TLS and HTTP/2. The function destroys connections to refuse them. */
  readonly guardConnection: (socket: Socket) => void;
  /** Starts a call, at once or in a later turn of the event loop, so that a burst of calls does not delay other work. */
  readonly scheduleCall: (remoteAddress: string | undefined, start: () => void) => void;
  /** Handles a call. The handler must return a promise that never rejects. */
  readonly handleCall: (call: GrpcServerCall) => Promise<GrpcResponseOrFailure>;
}

/** A gRPC server that accepts connections. */
interface GrpcListener {
  readonly port: number;
  /** Stops accepting calls. Resolves when the last gRPC call has ended. */
  drain(): Promise<void>;
  /** Cancels all gRPC calls that have not ended. */
  forceShutdown(): void;
}

/**
 * Settings of HTTP/2. Node.js itself limits unanswered pings and settings, empty frames, and continuations of headers.
 */
const HTTP2_OPTIONS: ServerOptions = {
  // Memory of one connection in MB, above which Node.js refuses new calls on the connection.
  maxSessionMemory: 64,
  maxHeaderListPairs: 128,
  // Calls that a client cancels at once, and per second. Node.js closes the connection of a client that cancels more.
  // Each opened call costs about 0.1 ms, also if the client cancels the call at once.
  streamResetBurst: 100,
  streamResetRate: 33,
  settings: {
    // Open calls of one connection. The calls in one read of the socket delay other clients by at most about 25 ms.
    maxConcurrentStreams: 250,
    // Bytes of a request message that a client sends before the server reads the message. Before a client receives the
    // settings, it can send 64 KiB on a connection. A large message arrives at 32 KiB per round trip.
    initialWindowSize: 32 * 1024,
    // Total size of the metadata of a call.
    maxHeaderListSize: 16 * 1024,
  },
};
/** Time in milliseconds in which a client must complete the TLS handshake. */
const TLS_HANDSHAKE_MS = 10_000;

/**
 * Starts a gRPC server for a list of services. The server calls `handleCall` as soon as it has the metadata of a call.
 * `handleCall` decides whether the server reads the request message.
 */
export async function startGrpcListener(options: GrpcListenerOptions): Promise<GrpcListener> {
  const { host, port, tls } = options;
  const server = tls ? createTlsServer(tls) : createServer(HTTP2_OPTIONS);
  const connections = new GrpcConnections(options);
  server.on("connection", options.guardConnection);
  server.on("session", (session: ServerHttp2Session) => connections.addSession(session));
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) =>
    connections.acceptCall(stream, headers),
  );
  server.listen(port, host);
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    drain: () => connections.drain(server),
    forceShutdown: () => connections.destroySessions(),
  };
}

function createTlsServer({ key, cert, clientCa }: ServerTls): Http2SecureServer {
  const server = createSecureServer({
    ...HTTP2_OPTIONS,
    key: Buffer.from(key),
    cert: Buffer.from(cert),
    handshakeTimeout: TLS_HANDSHAKE_MS,
    ...(clientCa === undefined
      ? {}
      : { ca: Buffer.from(clientCa), requestCert: true, rejectUnauthorized: true }),
  });
  // Node.js reports some errors of a TLS connection only to its socket (nodejs/node#35824).
  server.on("secureConnection", (socket: TLSSocket) => socket.on("error", () => {}));
  return server;
}

/** Formats an address as `host:port`, and encloses an IPv6 address in brackets. */
export function formatHostPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function ignoreError(): void {}

/** The connections of a listener, and the calls on these connections. */
class GrpcConnections {
  readonly #options: GrpcListenerOptions;
  readonly #methodsByPath: ReadonlyMap<string, RoutedGrpcMethod>;
  readonly #sessions = new Map<
    ServerHttp2Session,
    { readonly supervisor: ConnectionSupervisor; readonly remoteAddress: string | undefined }
  >();

  constructor(options: GrpcListenerOptions) {
    this.#options = options;
    this.#methodsByPath = new Map(
      options.services.flatMap((service) =>
        Object.values(service.methods).map((method) => [method.path, { service, method }] as const),
      ),
    );
  }

  addSession(session: ServerHttp2Session): void {
    const supervisor = new ConnectionSupervisor(session, this.#options.keepaliveMs);
    this.#sessions.set(session, { supervisor, remoteAddress: session.socket.remoteAddress });
    session.once("close", () => this.#sessions.delete(session));
  }

  acceptCall(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    // An error of a stream precedes its `close` event, which ends the call.
    stream.on("error", ignoreError);
    const connection = this.#sessions.get(stream.session as ServerHttp2Session);
    if (!connection) return stream.close();
    const { supervisor, remoteAddress } = connection;
    supervisor.countOpenedCall();
    stream.on("close", () => supervisor.countClosedCall());
    this.#options.scheduleCall(remoteAddress, () => {
      if (!stream.destroyed) this.#startCall(stream, headers, remoteAddress);
    });
  }

  #startCall(
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    remoteAddress: string | undefined,
  ): void {
    const routed = routeGrpcRequest(headers, this.#methodsByPath);
    if (!("method" in routed)) return refuseStream(stream, routed);
    const { method, timeoutMs } = routed;
    const call = new GrpcServerCall(stream, headers, method, timeoutMs, remoteAddress, this.#options);
    void this.#options.handleCall(call).then((response) => call.respond(response));
  }

  async drain(server: Http2Server | Http2SecureServer): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const session of this.#sessions.keys()) session.close();
    await closed;
  }

  destroySessions(): void {
    for (const session of this.#sessions.keys()) session.destroy();
  }
}

/** Replies to a request that the listener does not handle. */
function refuseStream(
  stream: ServerHttp2Stream,
  routed: Exclude<RoutedGrpcRequest, { method: unknown }>,
): void {
  const headers =
    "httpStatus" in routed
      ? { ":status": routed.httpStatus }
      : {
          ...buildResponseHeaders(undefined),
          "grpc-status": GRPC_STATUS_CODES[routed.grpcStatus],
          "grpc-message": encodeURI(routed.message),
        };
  stream.respond(headers, { endStream: true });
  stream.close();
}

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
