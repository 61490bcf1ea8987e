import {
  GRPC_SERVICE_V0_3,
  GRPC_SERVICE_V1,
  type GrpcCallOptions,
  GrpcChannel,
  type GrpcMethod,
  type GrpcService,
  type MessageCodec,
} from "../../wire/grpc/index.ts";
import {
  isObject,
  A2AError,
  type JsonObject,
  type OperationName,
  type Operations,
} from "../../protocol/index.ts";
import type { ProtoDialect, ProtocolVersion } from "../../wire/index.ts";
import * as v0_3 from "../../wire/v0_3/index.ts";
import * as v1 from "../../wire/v1/index.ts";
import type { Authorization } from "../auth/authorizer.ts";
import { parseGrpcAddress } from "./parse-grpc-address.ts";
import { createUnsupportedOperationError } from "./dialect.ts";
import { EXTENSIONS_HEADER, MAX_CARD_BYTES, parseHeaderList } from "./send-http-request.ts";
import type { CallOptions, TransportOptions } from "./transport.ts";
import {
  type ReceivedStreamEvent,
  type StreamCallOptions,
  buildStreamHeaders,
  type StreamOperation,
  type Transport,
  type UnaryOperation,
} from "./transport.ts";

/**
 * Creates a gRPC transport (A2A §10) for a `url` of the form `host:port`, with or without a scheme. The connection
 * opens with the first call. This file imports the gRPC packages, so other files import it on first use.
 */
export function createGrpcTransport(options: TransportOptions, url: string): Transport {
  const { address, tls } = parseGrpcAddress(url);
  const { maxResponseBytes, maxEventBytes, grpc = {} } = options;
  const maxMessageBytes = Math.max(maxResponseBytes, maxEventBytes);
  const channel = new GrpcChannel({
    address,
    tls: (grpc.tls ?? tls) ? grpc : undefined,
    maxMessageBytes,
  });
  const isV0_3 = options.version === "0.3";
  const service = isV0_3 ? GRPC_SERVICE_V0_3 : GRPC_SERVICE_V1;
  const dialect = isV0_3 ? v0_3.protoDialect : v1.protoDialect;
  return new GrpcTransport(options, channel, service, dialect);
}

class GrpcTransport implements Transport {
  readonly version: ProtocolVersion;
  readonly #options: TransportOptions;
  readonly #channel: GrpcChannel;
  readonly #service: GrpcService;
  readonly #dialect: ProtoDialect;

  constructor(options: TransportOptions, channel: GrpcChannel, service: GrpcService, dialect: ProtoDialect) {
    this.version = service.version;
    this.#dialect = dialect;
    this.#options = options;
    this.#channel = channel;
    this.#service = service;
  }

  async call<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: CallOptions,
  ): Promise<Operations[O]["result"]> {
    const method = this.#getMethod(operation);
    const request = method.request.encode(this.#dialect.encodeParams(operation, params));
    const response = await this.#callWithAuth(call, (context) =>
      this.#channel.callUnary(method, request, context),
    );
    if (operation === "GetExtendedAgentCard" && response.length > MAX_CARD_BYTES)
      throw new A2AError("INVALID_AGENT_RESPONSE", `The agent card is larger than ${MAX_CARD_BYTES} bytes.`);
    return this.#dialect.decodeResult(
      operation,
      decodeGrpcResponse(method.response, response),
      this.#options.peerLeniency,
    );
  }

  async *stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCallOptions,
  ): AsyncGenerator<ReceivedStreamEvent, void, undefined> {
    const method = this.#getMethod(operation);
    const request = method.request.encode(this.#dialect.encodeParams(operation, params));
    const headers = buildStreamHeaders(call);
    const { first, messages } = await this.#callWithAuth({ ...call, headers }, async (context) => {
      const messages = this.#channel.callServerStreaming(method, request, context);
      return { first: await messages.next(), messages };
    });
    try {
      for (let next = first; !next.done; next = await messages.next()) {
        const json = decodeGrpcResponse(method.response, next.value);
        const event = this.#dialect.decodeResult(operation, json, this.#options.peerLeniency);
        yield { event, size: next.value.length, isLast: isFinalUpdate(json) };
      }
    } finally {
      await messages.return();
    }
  }

  #getMethod(operation: OperationName): GrpcMethod {
    const method = this.#service.methods[operation];
    if (!method) throw createUnsupportedOperationError(operation, this.version);
    return method;
  }

  /**
   * Sends a gRPC call with credentials. If the agent rejects the credentials, the call is sent again with
   * renewed credentials, because a rejected call has no side effects.
   */
  async #callWithAuth<T>(call: CallOptions, send: (context: GrpcCallOptions) => Promise<T>): Promise<T> {
    const { authorizer } = this.#options;
    const authorization = await authorizer?.authorize(call.signal);
    try {
      return await send(this.#buildCallContext(call, authorization));
    } catch (error) {
      const isRefused = error instanceof A2AError && error.reason === "UNAUTHENTICATED";
      if (!isRefused || !authorization || !authorizer?.invalidate(authorization)) throw error;
      return await send(this.#buildCallContext(call, await authorizer.authorize(call.signal)));
    }
  }

  #buildCallContext(
    { signal, headers, onExtensionsActivated }: CallOptions,
    authorization: Authorization | undefined,
  ): GrpcCallOptions {
    if (authorization?.query) {
      const message =
        "The agent requires its API key in the URL query, which gRPC does not support. Use another binding.";
      throw new A2AError("UNAUTHENTICATED", message);
    }
    const { headers: defaultHeaders, version, extensions } = this.#options;
    const name = EXTENSIONS_HEADER[version];
    return {
      signal,
      headers: {
        ...defaultHeaders,
        ...authorization?.headers,
        ...headers,
        "a2a-version": version,
        ...(extensions.length > 0 ? { [name]: extensions.join(", ") } : {}),
      },
      onHeaders: onExtensionsActivated && ((header) => onExtensionsActivated(parseHeaderList(header(name)))),
    };
  }
}

/** Returns whether an event is marked as `final`, so that an A2A 0.3 server sends no more events. */
function isFinalUpdate({ statusUpdate }: JsonObject): boolean {
  return isObject(statusUpdate) && statusUpdate["final"] === true;
}

function decodeGrpcResponse(codec: MessageCodec, response: Uint8Array): JsonObject {
  try {
    return codec.decode(response);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : "unknown";
    const message = `The agent's response is not a valid ${codec.name} (${reason}).`;
    throw new A2AError("INVALID_AGENT_RESPONSE", message, { cause });
  }
}
