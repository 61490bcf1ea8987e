import type { OperationName, Operations, StreamResponse } from "../../protocol/index.ts";
import type { PeerLeniency, ProtocolVersion } from "../../wire/index.ts";
import type { Authorizer } from "../auth/authorizer.ts";

/** Options for all requests to one remote agent. */
export interface TransportOptions {
  readonly fetch: typeof fetch;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * The protocol version that the client sends with every request (A2A §3.6.1). A2A 0.3 servers ignore the
   * version.
   */
  readonly version: ProtocolVersion;
  /** URIs of the extensions that are requested with every request. */
  readonly extensions: readonly string[];
  /** Authenticates the requests. The authorizer is absent if no credentials are configured. */
  readonly authorizer?: Authorizer;
  /** Whether the client accepts responses of real peers that the specification forbids. */
  readonly peerLeniency: PeerLeniency;
  /** Maximum size in bytes of a response that is not a stream. */
  readonly maxResponseBytes: number;
  /** Maximum size in bytes of one stream event. */
  readonly maxEventBytes: number;
  /** Maximum number of JSON values and member names in a response or a stream event. */
  readonly maxJsonValues: number;
  /** Maximum time in milliseconds without any byte on a stream over HTTP. */
  readonly streamIdleMs: number;
  /** Options of gRPC connections, which do not use `fetch`. */
  readonly grpc?: GrpcClientOptions;
}

/** Options for gRPC connections. */
export interface GrpcClientOptions {
  /**
   * Whether the gRPC connection uses TLS. TLS is the default, except for the local machine and for addresses
   * with the scheme `grpc` or `http`.
   */
  readonly tls?: boolean;
  /**
   * Trusted certificate authorities in PEM format. By default, the client trusts the same certificate
   * authorities as Node.js.
   */
  readonly ca?: string;
  /** The TLS client certificate in PEM format, for servers that require a certificate. Requires `key`. */
  readonly cert?: string;
  readonly key?: string;
  /**
   * Whether the client accepts server certificates without verifying them. For development only. Default:
   * false.
   */
  readonly insecure?: boolean;
  /**
   * The gRPC implementation, which `grpcTransport` of `colloquy/grpc` sets. By default, `connect` loads the gRPC packages
   * on Node.js, Bun, and Deno. Other runtimes and bundles for them have no default.
   */
  readonly transport?: GrpcTransportFactory;
}

/** Options for one call of a client method. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** W3C `traceparent` that the client sends if the running code has no trace. Default: none. */
  readonly fallbackTraceparent?: string | undefined;
  /** Called before a stream connects again. Once the agent responds, `onExtensionsActivated` is called. */
  readonly onReconnect?: (() => void) | undefined;
  /** Receives the URIs of the activated extensions when the agent responds. */
  readonly onExtensionsActivated?: ((extensions: readonly string[]) => void) | undefined;
  /**
   * Receives the id of each event before the stream yields the event. `tasks.subscribe` continues after an id that is
   * passed as `after`. Events of servers without event ids have none.
   */
  readonly onEventId?: ((eventId: string) => void) | undefined;
}

/** Names of `CallOptions`, for checks of options. */
export const CALL_OPTION_NAMES =
  "fallbackTraceparent headers onEventId onExtensionsActivated onReconnect signal";

/** Options for one call of a transport. */
export interface TransportCallOptions extends CallOptions {
  /** Observes the HTTP requests of the call, for the traffic record. */
  readonly httpListener?: HttpCallListener | undefined;
}

/** Observes the HTTP requests of one call. A call with rejected credentials has a second request. */
export interface HttpCallListener {
  onRequest(request: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string | undefined;
  }): void;
  onResponse(response: { readonly status: number; readonly headers: Pick<Headers, "get"> }): void;
}

/** The A2A operations that return a stream. */
export type StreamOperation = "SendStreamingMessage" | "SubscribeToTask";
/** The A2A operations that return one response. */
export type UnaryOperation = Exclude<OperationName, StreamOperation>;

/** Options for one streaming request. */
export interface StreamCallOptions extends TransportCallOptions {
  /**
   * The id of the last received event, which the client sends as `Last-Event-ID` to resume the stream after
   * that event.
   */
  readonly lastEventId?: string | undefined;
}

/** A stream event, and the event id that the client sends to resume the stream after this event. */
export interface ReceivedStreamEvent {
  readonly id?: string | undefined;
  readonly event: StreamResponse;
  /** Size of the event on the wire: characters over HTTP, and bytes over gRPC. Default: 0. */
  readonly size?: number;
  /** True if the server marked the event as `final` (A2A 0.3), so that no event follows. */
  readonly isLast?: boolean;
}

/**
 * Sends requests to one interface of an agent over one protocol binding. A failed call rejects with an
 * `A2AError`. An aborted call rejects with the abort reason of its signal.
 */
export interface Transport {
  readonly version: ProtocolVersion;
  call<O extends UnaryOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: TransportCallOptions,
  ): Promise<Operations[O]["result"]>;
  /**
   * Opens a stream when iteration begins. Throws `UNAVAILABLE` if the connection breaks. The iteration ends
   * when the server ends the response normally.
   */
  stream<O extends StreamOperation>(
    operation: O,
    params: Operations[O]["params"],
    call: StreamCallOptions,
  ): AsyncIterable<ReceivedStreamEvent>;
}

/** Creates a transport for the address of a gRPC interface. */
export type GrpcTransportFactory = (options: TransportOptions, url: string) => Transport;

/**
 * Returns the headers of a streaming request, including `last-event-id`. A server can choose an event id that no header
 * can contain. The stream then continues with the current task.
 */
export function buildStreamHeaders({ headers, lastEventId }: StreamCallOptions): Record<string, string> {
  return lastEventId === undefined || /[^ -~]/.test(lastEventId)
    ? { ...headers }
    : { ...headers, "last-event-id": lastEventId };
}
