import type { EventEmitter } from "node:events";
import * as grpc from "@grpc/grpc-js";
import { A2AError, type JsonObject, type OperationName } from "../protocol/index.ts";
import { fromGrpcError } from "../wire/index.ts";
import { toGrpcMetadata, RAW_SERIALIZERS } from "./raw-serializers.ts";
import type { GrpcMethod } from "./grpc-service.ts";
import { decodeRpcStatus } from "./rpc-status.ts";

/** Certificates of a client, as PEM. */
export interface ClientTls {
  /** Who vouches for the server. Default: whom Node trusts. */
  readonly ca?: string | undefined;
  /** What shows a server that asks for it who calls. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  readonly insecure?: boolean | undefined;
}

export interface GrpcChannelOptions {
  /** `host:port`. */
  readonly address: string;
  /** Undefined: in clear text. */
  readonly tls: ClientTls | undefined;
  /** Larger messages are refused. */
  readonly maxMessageBytes: number;
}

type GrpcCallTarget = Pick<GrpcMethod, "path" | "operation">;

/** What goes with a call. */
export interface GrpcCallOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
  /** Told of the metadata with which an answer begins. */
  readonly onHeaders?: ((header: (name: string) => string | undefined) => void) | undefined;
}

/** A connection to a gRPC server: made by the first call, closed after a minute without one, and made again by the next. */
export class GrpcChannel {
  readonly #client: grpc.Client;
  readonly #address: string;

  constructor({ address, tls, maxMessageBytes }: GrpcChannelOptions) {
    const credentials = tls ? createChannelCredentials(tls) : grpc.credentials.createInsecure();
    this.#address = address;
    this.#client = new grpc.Client(address, credentials, {
      "grpc.max_receive_message_length": maxMessageBytes,
      "grpc.client_idle_timeout_ms": 60_000,
      // Who calls again waits by itself, and not for the channel, too.
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 1_000,
      // Names are looked up; how to call is nothing that DNS says.
      "grpc.service_config_disable_resolution": 1,
    });
  }

  /** Rejects with an A2AError, or with what the signal was aborted with. */
  callUnary(
    { path, operation }: GrpcCallTarget,
    binary: Uint8Array,
    context: GrpcCallOptions,
  ): Promise<Uint8Array> {
    const { headers, signal } = context;
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
        (error, answer) => {
          signal?.removeEventListener("abort", cancel);
          if (answer) resolve(answer);
          else reject(this.#toCallError(operation, error, signal));
        },
      );
      attachCallListeners(call, context, cancel);
    });
  }

  /** Rejects as `callUnary` does. Returning early cancels the call. */
  async *callServerStreaming(
    { path, operation }: GrpcCallTarget,
    binary: Uint8Array,
    context: GrpcCallOptions,
  ): AsyncGenerator<Uint8Array, void, undefined> {
    const { headers, signal } = context;
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
    // A call that is cancelled fails, also when nobody reads it any more.
    call.on("error", () => {});
    attachCallListeners(call, context, cancel);
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
      const text = `No answer from ${address} over gRPC (${message}); is the agent running and reachable?`;
      return new A2AError("UNAVAILABLE", text, { cause: error });
    }
    // To wait and try again, as this status has it, would not make it smaller.
    if (code === grpc.status.RESOURCE_EXHAUSTED && /larger than max/i.test(message))
      return new A2AError("PAYLOAD_TOO_LARGE", message, { cause: error });
  }
  return fromGrpcError(operation, grpc.status[code], message, details);
}

function extractStatusDetails(metadata: grpc.Metadata | undefined): readonly JsonObject[] {
  const [binary] = metadata?.get("grpc-status-details-bin") ?? [];
  if (!(binary instanceof Uint8Array)) return [];
  try {
    return decodeRpcStatus(binary).details;
  } catch {
    // The status itself is known all the same.
    return [];
  }
}
