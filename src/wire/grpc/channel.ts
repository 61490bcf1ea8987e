import type { EventEmitter } from "node:events";
import * as grpc from "@grpc/grpc-js";
import { A2AError, type JsonObject, type OperationName } from "../../protocol/index.ts";
import { fromGrpcError } from "../index.ts";
import type { GrpcMethod } from "./grpc-service.ts";
import { decodeRpcStatus } from "./rpc-status.ts";
import { Metadata, type MethodDefinition } from "@grpc/grpc-js";
import { toBuffer } from "./field-codecs.ts";

/** TLS certificates of a gRPC client, in PEM format. */
interface ClientTls {
  /**
   * Certificate of the authority that signs the server certificate. Default: the certificate authorities
   * that Node.js trusts.
   */
  readonly ca?: string | undefined;
  /** Client certificate, which the client sends to servers that request a certificate. */
  readonly cert?: string | undefined;
  /** Private key of the client certificate. */
  readonly key?: string | undefined;
  /** If `true`, the client does not verify the server certificate. Default: `false`. */
  readonly insecure?: boolean | undefined;
}

/** Options for a `GrpcChannel`. */
interface GrpcChannelOptions {
  /** Address of the gRPC server as `host:port`. */
  readonly address: string;
  /** TLS certificates. If `tls` is `undefined`, the connection is not encrypted. */
  readonly tls: ClientTls | undefined;
  /**
   * Maximum size of a received message in bytes. A gRPC call fails if a response message exceeds the
   * maximum size.
   */
  readonly maxMessageBytes: number;
}

type CalledGrpcMethod = Pick<GrpcMethod, "path" | "operation">;

/** Options for one gRPC call. */
export interface GrpcCallOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /**
   * Callback for the response metadata. The channel calls the callback once, with a function that looks up
   * metadata values.
   */
  readonly onHeaders?: ((header: (name: string) => string | undefined) => void) | undefined;
}

/**
 * A client connection to a gRPC server. The first call opens the connection to the server. The connection
 * closes after 60 s without a call, and the next call opens the connection again.
 */
export class GrpcChannel {
  readonly #client: grpc.Client;
  readonly #address: string;

  constructor({ address, tls, maxMessageBytes }: GrpcChannelOptions) {
    const credentials = tls ? createChannelCredentials(tls) : grpc.credentials.createInsecure();
    this.#address = address;
    this.#client = new grpc.Client(address, credentials, {
      "grpc.max_receive_message_length": maxMessageBytes,
      "grpc.client_idle_timeout_ms": 60_000,
      // Reconnect delays are short, because callers that retry have their own backoff.
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 1_000,
      // A dead connection ends a silent stream. Servers may refuse pings in shorter intervals than five minutes.
      "grpc.keepalive_time_ms": 330_000,
      "grpc.keepalive_timeout_ms": 20_000,
      // DNS resolves the host name, but does not configure the calls.
      "grpc.service_config_disable_resolution": 1,
    });
  }

  /**
   * Sends a request and resolves to the response message. If the call fails, rejects with an `A2AError` or
   * with the abort reason of the signal.
   */
  callUnary(
    { path, operation }: CalledGrpcMethod,
    binary: Uint8Array,
    options: GrpcCallOptions,
  ): Promise<Uint8Array> {
    const { headers, signal } = options;
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const cancel = (): void => call.cancel();
      const { requestSerialize, responseDeserialize } = RAW_SERIALIZERS;
      const call = this.#client.makeUnaryRequest(
        path,
        requestSerialize,
        responseDeserialize,
        binary,
        toGrpcMetadata(headers),
        (error, response) => {
          signal?.removeEventListener("abort", cancel);
          if (response) resolve(response);
          else reject(this.#toCallError(operation, error, signal));
        },
      );
      attachCallListeners(call, options, cancel);
    });
  }

  /**
   * Sends a request and yields the messages of the response stream. Rejects like `callUnary`. If the
   * consumer returns early, the channel cancels the call.
   */
  async *callServerStreaming(
    { path, operation }: CalledGrpcMethod,
    binary: Uint8Array,
    options: GrpcCallOptions,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { headers, signal } = options;
    signal?.throwIfAborted();
    const { requestSerialize, responseDeserialize } = RAW_SERIALIZERS;
    const call = this.#client.makeServerStreamRequest(
      path,
      requestSerialize,
      responseDeserialize,
      binary,
      toGrpcMetadata(headers),
    );
    const cancel = (): void => call.cancel();
    // A canceled call emits an error even if nothing reads its stream.
    call.on("error", () => {});
    attachCallListeners(call, options, cancel);
    try {
      yield* call as AsyncIterable<Uint8Array>;
    } catch (error) {
      throw this.#toCallError(operation, error, signal);
    } finally {
      signal?.removeEventListener("abort", cancel);
      cancel();
    }
  }

  #toCallError(operation: OperationName, error: unknown, signal: AbortSignal | undefined): unknown {
    if (signal?.aborted) return signal.reason;
    return isServiceError(error) ? fromServiceError(operation, error, this.#address) : error;
  }
}

function createChannelCredentials({ ca, cert, key, insecure = false }: ClientTls): grpc.ChannelCredentials {
  return grpc.credentials.createSsl(toPemBuffer(ca), toPemBuffer(key), toPemBuffer(cert), {
    rejectUnauthorized: !insecure,
  });
}

function toPemBuffer(text: string | undefined): Buffer | null {
  return text === undefined ? null : Buffer.from(text);
}

function attachCallListeners(
  call: EventEmitter,
  { signal, onHeaders }: GrpcCallOptions,
  cancel: () => void,
): void {
  signal?.addEventListener("abort", cancel, { once: true });
  if (onHeaders) {
    call.once("metadata", (metadata: grpc.Metadata) => onHeaders((name) => metadata.get(name).join(", ")));
  }
}

function isServiceError(error: unknown): error is grpc.ServiceError {
  return error instanceof Error && "code" in error && "details" in error;
}

function fromServiceError(operation: OperationName, error: grpc.ServiceError, address: string): A2AError {
  const { code, details: message, metadata } = error;
  const details = extractStatusDetails(metadata);
  if (details.length === 0) {
    if (code === grpc.status.UNAVAILABLE) {
      const unreachableMessage = `No response from ${address} over gRPC (${message}); check that the agent is running and reachable.`;
      return new A2AError("UNAVAILABLE", unreachableMessage, { cause: error });
    }
    // This status suggests a retry, but a retry would not make the message smaller.
    if (code === grpc.status.RESOURCE_EXHAUSTED && /larger than max/i.test(message))
      return new A2AError("PAYLOAD_TOO_LARGE", message, { cause: error });
  }
  const failure = fromGrpcError(operation, grpc.status[code], message, details, code);
  failure.cause = error;
  return failure;
}

/** Returns the gRPC status that a rejection of a `GrpcChannel` stands for, as the server sent it. */
export function findGrpcStatus(
  failure: unknown,
): { readonly code: number; readonly message: string; readonly details: readonly JsonObject[] } | undefined {
  const cause = failure instanceof A2AError ? failure.cause : undefined;
  if (!isServiceError(cause)) return undefined;
  return { code: cause.code, message: cause.details, details: extractStatusDetails(cause.metadata) };
}

function extractStatusDetails(metadata: grpc.Metadata | undefined): readonly JsonObject[] {
  const [binary] = metadata?.get("grpc-status-details-bin") ?? [];
  if (!(binary instanceof Uint8Array)) return [];
  try {
    return decodeRpcStatus(binary).details;
  } catch {
    // The status is known even if its details cannot be decoded.
    return [];
  }
}

function passThroughBytes(binary: Buffer): Uint8Array {
  return binary;
}

/**
 * gRPC serializers that return the bytes of a message unchanged. Colloquy's own codecs decode the bytes
 * and report invalid messages.
 */
const RAW_SERIALIZERS: Pick<
  MethodDefinition<Uint8Array, Uint8Array>,
  "requestSerialize" | "requestDeserialize" | "responseSerialize" | "responseDeserialize"
> = {
  requestSerialize: toBuffer,
  requestDeserialize: passThroughBytes,
  responseSerialize: toBuffer,
  responseDeserialize: passThroughBytes,
};

/** Converts HTTP headers to gRPC metadata. */
function toGrpcMetadata(headers: Readonly<Record<string, string>>): Metadata {
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers))
    try {
      metadata.set(name, value);
    } catch {
      // The thrown error contains the value, which can be a secret.
      throw new TypeError(
        `The metadata ${JSON.stringify(name)} has a name or a value that gRPC does not allow.`,
      );
    }
  return metadata;
}
