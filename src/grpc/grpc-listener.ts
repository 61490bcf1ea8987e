import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createServer, isIP } from "node:net";
import * as grpc from "@grpc/grpc-js";
import type { GrpcError } from "../wire/index.ts";
import { toBuffer } from "./field-codecs.ts";
import { toGrpcMetadata, RAW_SERIALIZERS } from "./raw-serializers.ts";
import type { GrpcMethod, GrpcService } from "./grpc-service.ts";
import { truncateStatusMessage, encodeRpcStatus } from "./rpc-status.ts";

/** A call that the server received from a gRPC client. */
export interface IncomingCall {
  readonly service: GrpcService;
  readonly method: GrpcMethod;
  /** Bytes of the request message. */
  readonly requestBytes: Uint8Array;
  /** Returns the value of a metadata key, which must be in lower case. */
  header(name: string): string | undefined;
  /** IP address of the client, or of the proxy between the client and this server. */
  readonly remoteAddress: string | undefined;
  /** Returns the client certificate that TLS has verified. */
  certificate(): X509Certificate | undefined;
}

/** Status and metadata of a failed gRPC call. */
export interface GrpcFailure extends GrpcError {
  /** Response metadata that accompanies the status of a failed call. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Response to a gRPC call: a failure, or metadata with one message or a stream of messages. */
export type GrpcResponseOrFailure =
  | { readonly failure: GrpcFailure }
  | {
      /** Metadata that the server sends before the first message. */
      readonly headers: Readonly<Record<string, string>>;
      /** Response message, or a function that writes a stream of response messages. */
      readonly body: Uint8Array | ((sink: GrpcResponseMessageSink) => void);
    };

/** A sink that receives the messages of a response stream. */
export interface GrpcResponseMessageSink {
  /**
   * Writes a message. If the client is slow, the sink returns a promise. The promise resolves when the
   * client can receive more messages or has disconnected.
   */
  write(binary: Uint8Array): Promise<void> | undefined;
  end(failure?: GrpcFailure): void;
  /** Calls the callback once when the client disconnects or the client's deadline expires. */
  onClose(callback: () => void): void;
}

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
interface GrpcListenerOptions {
  readonly services: readonly GrpcService[];
  readonly host: string;
  readonly port: number;
  readonly tls: ServerTls | undefined;
  /**
   * Maximum size of a request message in bytes. The server rejects larger requests with
   * `RESOURCE_EXHAUSTED` before it decodes them.
   */
  readonly maxRequestBytes: number;
  /** Idle time in milliseconds before the server sends an HTTP/2 ping. 0 disables pings. */
  readonly keepaliveMs: number;
  /** Handles a call. The handler must return a promise that never rejects. */
  readonly handleCall: (call: IncomingCall) => Promise<GrpcResponseOrFailure>;
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
 * Maximum number of concurrent calls on one connection. The number is limited because each call may buffer
 * a batch of events for a slow client.
 */
const MAX_CONCURRENT_STREAMS = 1_000;

/**
 * Starts a gRPC server for a list of services. The server passes the bytes of each message to
 * `handleCall`, which decodes them.
 */
export async function startGrpcListener(options: GrpcListenerOptions): Promise<GrpcListener> {
  const { host, port, tls, maxRequestBytes, keepaliveMs } = options;
  const server = new grpc.Server({
    "grpc.max_receive_message_length": maxRequestBytes,
    "grpc.max_concurrent_streams": MAX_CONCURRENT_STREAMS,
    // A response must be able to contain an entire task, so its size is not limited.
    "grpc.max_send_message_length": -1,
    ...(keepaliveMs > 0 ? { "grpc.keepalive_time_ms": keepaliveMs } : {}),
  });
  for (const service of options.services) addService(server, service, options.handleCall);
  if (port !== 0) await assertPortAvailable(host, port);
  const credentials = tls ? createServerCredentials(tls) : grpc.ServerCredentials.createInsecure();
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(formatHostPort(host, port), credentials, (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
  return {
    port: bound,
    drain: () => new Promise((resolve) => server.tryShutdown(() => resolve())),
    forceShutdown: () => server.forceShutdown(),
  };
}

/**
 * If the port is in use, rejects with the system error. If binding fails, the grpc-js library does not
 * report the reason.
 */
async function assertPortAvailable(host: string, port: number): Promise<void> {
  const probe = createServer().listen(port, host);
  await once(probe, "listening");
  await new Promise((resolve) => probe.close(resolve));
}

function createServerCredentials({ key, cert, clientCa }: ServerTls): grpc.ServerCredentials {
  const pair = { private_key: Buffer.from(key), cert_chain: Buffer.from(cert) };
  const ca = clientCa === undefined ? null : Buffer.from(clientCa);
  return grpc.ServerCredentials.createSsl(ca, [pair], ca !== null);
}

/** Formats an address as `host:port`, and encloses an IPv6 address in brackets. */
export function formatHostPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function addService(
  server: grpc.Server,
  service: GrpcService,
  handleCall: GrpcListenerOptions["handleCall"],
): void {
  const definition: Record<string, grpc.MethodDefinition<Uint8Array, Uint8Array>> = {};
  const handlers: grpc.UntypedServiceImplementation = {};
  for (const method of Object.values(service.methods)) {
    const { path, isStreaming } = method;
    definition[path] = { path, requestStream: false, responseStream: isStreaming, ...RAW_SERIALIZERS };
    handlers[path] = isStreaming
      ? createStreamingHandler(service, method, handleCall)
      : createUnaryHandler(service, method, handleCall);
  }
  server.addService(definition, handlers);
}

function createUnaryHandler(
  service: GrpcService,
  method: GrpcMethod,
  handleCall: GrpcListenerOptions["handleCall"],
): grpc.handleUnaryCall<Uint8Array, Uint8Array> {
  const handle = async (
    call: grpc.ServerUnaryCall<Uint8Array, Uint8Array>,
    callback: grpc.sendUnaryData<Uint8Array>,
  ): Promise<void> => {
    const response = await handleCall(toIncomingCall(service, method, call));
    if ("failure" in response) callback(toStatusObject(response.failure));
    else {
      sendInitialMetadata(call, response.headers);
      if (typeof response.body !== "function") callback(null, response.body);
    }
  };
  return (call, callback) => void handle(call, callback);
}

function createStreamingHandler(
  service: GrpcService,
  method: GrpcMethod,
  handleCall: GrpcListenerOptions["handleCall"],
): grpc.handleServerStreamingCall<Uint8Array, Uint8Array> {
  const handle = async (call: grpc.ServerWritableStream<Uint8Array, Uint8Array>): Promise<void> => {
    const sink = new ServerStreamSink(call);
    const response = await handleCall(toIncomingCall(service, method, call));
    if ("failure" in response) sink.end(response.failure);
    else {
      sendInitialMetadata(call, response.headers);
      if (typeof response.body === "function") response.body(sink);
    }
  };
  return (call) => void handle(call);
}

function toIncomingCall(
  service: GrpcService,
  method: GrpcMethod,
  call: grpc.ServerUnaryCall<Uint8Array, unknown> | grpc.ServerWritableStream<Uint8Array, unknown>,
): IncomingCall {
  return {
    service,
    method,
    requestBytes: call.request,
    remoteAddress: parsePeerAddress(call.getPeer()),
    header(name) {
      if (name === "host") return call.getHost();
      const values = call.metadata.get(name).filter((value) => typeof value === "string");
      return values.length > 0 ? values.join(", ") : undefined;
    },
    certificate() {
      const raw = call.getAuthContext().sslPeerCertificate?.raw;
      return raw && new X509Certificate(raw);
    },
  };
}

/** Returns the IP address of a peer in the format of grpc-js: the address, a colon, and the port. */
function parsePeerAddress(peer: string): string | undefined {
  const address = peer.slice(0, peer.lastIndexOf(":"));
  return isIP(address) === 0 ? undefined : address;
}

function sendInitialMetadata(
  call: { sendMetadata(metadata: grpc.Metadata): void },
  headers: Readonly<Record<string, string>>,
): void {
  call.sendMetadata(toGrpcMetadata(headers));
}

/** Converts a failure to a gRPC status, with the error details in the trailer metadata (A2A §10.6). */
function toStatusObject({ status, message, details, headers }: GrpcFailure): {
  code: number;
  details: string;
  metadata: grpc.Metadata;
} {
  const code = grpc.status[status];
  const metadata = toGrpcMetadata(headers);
  metadata.set("grpc-status-details-bin", toBuffer(encodeRpcStatus({ code, message, details })));
  return { code, details: truncateStatusMessage(message), metadata };
}

class ServerStreamSink implements GrpcResponseMessageSink {
  readonly #call: grpc.ServerWritableStream<Uint8Array, Uint8Array>;
  #onClose: (() => void) | undefined;
  #onDrain: (() => void) | undefined;
  #isClosed = false;

  constructor(call: grpc.ServerWritableStream<Uint8Array, Uint8Array>) {
    this.#call = call;
    call.on("drain", () => this.#onDrain?.());
    call.on("cancelled", () => {
      this.#isClosed = true;
      this.#onDrain?.();
      this.#onClose?.();
    });
  }

  write(binary: Uint8Array): Promise<void> | undefined {
    if (this.#isClosed || this.#call.write(binary)) return undefined;
    return new Promise((resolve) => {
      this.#onDrain = resolve;
    });
  }

  end(failure?: GrpcFailure): void {
    if (this.#isClosed) return;
    if (failure) this.#call.emit("error", toStatusObject(failure));
    else this.#call.end();
  }

  onClose(callback: () => void): void {
    if (this.#isClosed) callback();
    else this.#onClose = callback;
  }
}
