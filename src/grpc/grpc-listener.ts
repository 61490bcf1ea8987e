import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import * as grpc from "@grpc/grpc-js";
import type { GrpcError } from "../wire/index.ts";
import { toBuffer } from "./field-codecs.ts";
import { toGrpcMetadata, RAW_SERIALIZERS } from "./raw-serializers.ts";
import type { GrpcMethod, GrpcService } from "./grpc-service.ts";
import { truncateStatusMessage, encodeRpcStatus } from "./rpc-status.ts";

/** A call that a client has made. */
export interface IncomingCall {
  readonly service: GrpcService;
  readonly method: GrpcMethod;
  /** The request message, as it came. */
  readonly requestBytes: Uint8Array;
  /** Metadata by its lower-case name. */
  header(name: string): string | undefined;
  /** The certificate that the client has proven to have. */
  certificate(): X509Certificate | undefined;
}

/** How a call fails. */
export interface GrpcFailure extends GrpcError {
  /** Metadata beside the status. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What a call is answered with. */
export type GrpcResponse =
  | { readonly failure: GrpcFailure }
  | {
      /** Initial metadata. */
      readonly headers: Readonly<Record<string, string>>;
      /** The response message, or a function that writes several. */
      readonly body: Uint8Array | ((sink: GrpcMessageSink) => void);
    };

/** Where the messages of a stream go. */
export interface GrpcMessageSink {
  /** The answer, if there is one, resolves when there is room for more, or nobody is there any more. */
  write(binary: Uint8Array): Promise<void> | undefined;
  end(failure?: GrpcFailure): void;
  /** Calls back once when the client is gone, or its deadline has passed. */
  onClose(callback: () => void): void;
}

/** Certificates of a server, as PEM. */
export interface ServerTls {
  readonly key: string | Uint8Array;
  readonly cert: string | Uint8Array;
  /** Who vouches for clients, as PEM. When it is there, nobody comes in without a certificate. */
  readonly clientCa?: string | Uint8Array;
}

export interface GrpcListenerOptions {
  readonly services: readonly GrpcService[];
  readonly host: string;
  readonly port: number;
  readonly tls: ServerTls | undefined;
  /** Larger requests are refused with RESOURCE_EXHAUSTED, before anybody sees them. */
  readonly maxRequestBytes: number;
  /** How long a connection may be silent before its client is asked whether it is there; 0 never asks. */
  readonly keepaliveMs: number;
  /** Never rejects. */
  readonly handleCall: (call: IncomingCall) => Promise<GrpcResponse>;
}

/** A gRPC server that listens. */
export interface GrpcListener {
  readonly port: number;
  /** Takes no new calls and resolves when the last one has ended. */
  drain(): Promise<void>;
  /** Cuts what is left. */
  forceShutdown(): void;
}

/** Calls under way on one connection: each may have a batch of events that wait for its reader. */
const MAX_CONCURRENT_STREAMS = 1_000;

/** Listens for gRPC calls of some services. Messages pass as bytes: what they mean is read by whoever answers. */
export async function startGrpcListener(options: GrpcListenerOptions): Promise<GrpcListener> {
  const { host, port, tls, maxRequestBytes, keepaliveMs } = options;
  const server = new grpc.Server({
    "grpc.max_receive_message_length": maxRequestBytes,
    "grpc.max_concurrent_streams": MAX_CONCURRENT_STREAMS,
    // An answer is as large as the task that was asked for.
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

/** Rejects as listening would. grpc-js prints that it can not, and does not say why. */
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

/** `host:port`, as gRPC writes addresses. */
export function formatHostPort(host: string, port: number): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

function addService(
  server: grpc.Server,
  service: GrpcService,
  answer: GrpcListenerOptions["handleCall"],
): void {
  const definition: Record<string, grpc.MethodDefinition<Uint8Array, Uint8Array>> = {};
  const handlers: grpc.UntypedServiceImplementation = {};
  for (const method of Object.values(service.methods)) {
    const { path, isStreaming: streams } = method;
    definition[path] = { path, requestStream: false, responseStream: streams, ...RAW_SERIALIZERS };
    handlers[path] = streams
      ? createStreamingHandler(service, method, answer)
      : createUnaryHandler(service, method, answer);
  }
  server.addService(definition, handlers);
}

function createUnaryHandler(
  service: GrpcService,
  method: GrpcMethod,
  answer: GrpcListenerOptions["handleCall"],
): grpc.handleUnaryCall<Uint8Array, Uint8Array> {
  const carryOut = async (
    call: grpc.ServerUnaryCall<Uint8Array, Uint8Array>,
    callback: grpc.sendUnaryData<Uint8Array>,
  ): Promise<void> => {
    const given = await answer(toIncomingCall(service, method, call));
    if ("failure" in given) callback(toStatusObject(given.failure));
    else {
      sendInitialMetadata(call, given.headers);
      if (typeof given.body !== "function") callback(null, given.body);
    }
  };
  return (call, callback) => void carryOut(call, callback);
}

function createStreamingHandler(
  service: GrpcService,
  method: GrpcMethod,
  answer: GrpcListenerOptions["handleCall"],
): grpc.handleServerStreamingCall<Uint8Array, Uint8Array> {
  const carryOut = async (call: grpc.ServerWritableStream<Uint8Array, Uint8Array>): Promise<void> => {
    const sink = new ServerStreamSink(call);
    const given = await answer(toIncomingCall(service, method, call));
    if ("failure" in given) sink.end(given.failure);
    else {
      sendInitialMetadata(call, given.headers);
      if (typeof given.body === "function") given.body(sink);
    }
  };
  return (call) => void carryOut(call);
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

function sendInitialMetadata(
  call: { sendMetadata(metadata: grpc.Metadata): void },
  headers: Readonly<Record<string, string>>,
): void {
  call.sendMetadata(toGrpcMetadata(headers));
}

/** How a call fails: a status, and beside it what else is known (A2A §10.6). */
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

class ServerStreamSink implements GrpcMessageSink {
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
