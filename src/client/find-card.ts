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

export interface ConnectOptions {
  /**
   * Default: the first one in the card's order. gRPC counts if its packages are there; behind the others for who has a
   * `fetch` of their own, past which it would go, and does not give `grpc`.
   */
  readonly binding?: ClientBinding;
  /** Bindings that are taken before others where the agent offers them, the best first. */
  readonly preferredBindings?: readonly ClientBinding[];
  /** Takes the packages `@grpc/grpc-js` and `@bufbuild/protobuf`. */
  readonly grpc?: GrpcClientOptions;
  /** Pins the version. Default: 1.0 with every agent that has it, 0.3 with those that have nothing else. */
  readonly version?: ProtocolVersion;
  /** True: 0.3 may also be spoken with an agent that has 1.0, where it has the binding only so. */
  readonly allowOlderVersion?: boolean;
  /**
   * True: credentials may go to an agent that its card names in clear text (`http:`). Default: only to this machine, or
   * to the host that `url` itself names with `http:`.
   */
  readonly allowClearText?: boolean;
  /**
   * Credentials, which go to the agent in the way that its card asks for; or a function that gives the headers for a
   * requirement of the card. For a card that is not shown without any, they go there, too, in the usual way.
   */
  readonly auth?: ClientAuthOptions | AuthorizeFunction;
  /**
   * Rejects for cards that are not to be trusted, as `createCardVerifier` makes it. Given each as it was served, before
   * it is used.
   */
  readonly verifyCard?: (card: unknown) => unknown;
  /** The URIs of the extensions that the caller speaks; asked for with every request. */
  readonly extensions?: readonly string[];
  /** Sent with every request as they are: for the card, too, and also where the card names another host than its own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Aborts the search for the card. */
  readonly signal?: AbortSignal;
  /** How streams that are cut go on. */
  readonly reconnect?: RetryOptions;
  /** How reads are repeated: cards, tasks, lists, configurations. What does something never is. */
  readonly retry?: RetryOptions;
  /** Larger answers are refused. Default 64 MiB. */
  readonly maxResponseBytes?: number;
  /** Larger events of a stream are refused. Default 16 MiB. */
  readonly maxEventBytes?: number;
}

/** An agent's card, found as `connect` finds it, for those who want nothing else of the agent. */
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

export function createCardFetchOptions(
  http: TransportOptions,
  { auth, verifyCard, retry = {} }: ConnectOptions,
): CardFetchOptions {
  const now = Date.now;
  const authorizer = auth && createChallengeAuthorizer({ auth, fetch: http.fetch, now });
  // Only a card of 1.0 can be signed, and it names the interfaces of 0.3 as well.
  const version = verifyCard ? "1.0" : http.version;
  return {
    transportOptions: { ...http, version, ...(authorizer ? { authorizer } : {}) },
    verifyCard,
    retry,
    now,
  };
}
