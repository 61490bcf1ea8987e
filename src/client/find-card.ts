import type { AgentCard } from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";
import type { AuthorizeFunction, ClientAuthOptions } from "./auth/client-auth.ts";
import { createChallengeAuthorizer } from "./auth/challenge-authorizer.ts";
import { discoverCard } from "./card/discover-card.ts";
import type { CardFetchOptions } from "./card/fetch-card.ts";
import type { GrpcClientOptions } from "./transport/http.ts";
import type { TransportOptions } from "./transport/http.ts";
import type { RetryOptions } from "./stream/retry.ts";
import type { ClientBinding } from "./transport/create-transport.ts";

/** Options for `connect`. */
export interface ConnectOptions {
  /**
   * The protocol binding to use. Default: the first supported binding in the card's order. gRPC counts only
   * if its packages are installed. With a custom `fetch` and without `grpc`, gRPC is used only if the card
   * offers no other binding, because gRPC bypasses `fetch`.
   */
  readonly binding?: ClientBinding;
  /** Bindings in order of preference, best first. These bindings take precedence over the card's order. */
  readonly preferredBindings?: readonly ClientBinding[];
  /** Options for gRPC connections. Requires the packages `@grpc/grpc-js` and `@bufbuild/protobuf`. */
  readonly grpc?: GrpcClientOptions;
  /**
   * The only protocol version to use. Default: 1.0 for agents that support it, and 0.3 for agents that
   * support nothing newer.
   */
  readonly version?: ProtocolVersion;
  /**
   * Whether A2A 0.3 may be used with an agent that supports 1.0, but not over the requested binding. Default:
   * false.
   */
  readonly allowOlderVersion?: boolean;
  /**
   * Whether credentials may be sent to an agent whose card names a plain HTTP URL. Default: only to the local
   * machine, and to the host of a plain HTTP URL passed to `connect`.
   */
  readonly allowClearText?: boolean;
  /**
   * Credentials, or a function that returns the headers for a security requirement of the card. Credentials
   * are sent as the card declares. If the card itself requires authentication, the credentials are sent in
   * standard headers.
   */
  readonly auth?: ClientAuthOptions | AuthorizeFunction;
  /**
   * Verifies agent cards, for example a verifier from `createCardVerifier`. Called with each card as the
   * server sent it, before use. Throw to reject the card.
   */
  readonly verifyCard?: (card: unknown) => unknown;
  /** URIs of the extensions that the caller supports. Requested with every request. */
  readonly extensions?: readonly string[];
  /**
   * Headers for every request, including requests for the card. The headers are also sent to other hosts that
   * the card names.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** The function that sends HTTP requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Cancels the search for the card. */
  readonly signal?: AbortSignal;
  /** Retry policy for streams that lose their connection. */
  readonly reconnect?: RetryOptions;
  /**
   * Retry policy for read requests: cards, tasks, lists, and configurations. Requests with side effects are
   * never retried.
   */
  readonly retry?: RetryOptions;
  /** Maximum size of a response in bytes. Larger responses are rejected. Default: 64 MiB. */
  readonly maxResponseBytes?: number;
  /** Maximum size of one stream event in bytes. Larger events are rejected. Default: 16 MiB. */
  readonly maxEventBytes?: number;
}

/** Finds an agent card in the same way as `connect`, without creating a client. */
export async function findCard(
  url: string,
  options: Omit<ConnectOptions, "allowClearText" | "reconnect" | "grpc"> = {},
): Promise<{ readonly card: AgentCard; readonly json: unknown; readonly url: string }> {
  return await discoverCard(
    createCardFetchOptions(createTransportOptions(options), options),
    url,
    options.signal,
  );
}

/** Returns the transport options for the options of `connect`. */
export function createTransportOptions(options: ConnectOptions): TransportOptions {
  const { extensions = [], version = "1.0" } = options;
  return {
    fetch: options.fetch ?? fetch,
    headers: options.headers ?? {},
    version,
    extensions,
    maxResponseBytes: options.maxResponseBytes ?? 64 * 2 ** 20,
    maxEventBytes: options.maxEventBytes ?? 16 * 2 ** 20,
    ...(options.grpc ? { grpc: options.grpc } : {}),
  };
}

/** Returns the card fetch options for the options of `connect`. */
export function createCardFetchOptions(
  http: TransportOptions,
  { auth, verifyCard, retry = {} }: ConnectOptions,
): CardFetchOptions {
  const now = Date.now;
  const authorizer = auth && createChallengeAuthorizer({ auth, fetch: http.fetch, now });
  // Only 1.0 cards are signed, and a 1.0 card also names the 0.3 interfaces.
  const version = verifyCard ? "1.0" : http.version;
  return {
    transportOptions: { ...http, version, ...(authorizer ? { authorizer } : {}) },
    verifyCard,
    retry,
    now,
  };
}
