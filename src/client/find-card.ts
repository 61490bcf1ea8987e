import { getMonotonicTimeMs } from "./clock.ts";
import type { AgentCard } from "../protocol/index.ts";
import type { TrafficRecordOption } from "../observe/trace/recording/index.ts";
import { defineOptionNames } from "../base/usage-checks/index.ts";
import type { PeerLeniency, ProtocolVersion } from "../wire/index.ts";
import type { AuthorizeFunction, ClientAuthOptions } from "./auth/client-auth.ts";
import { createChallengeAuthorizer } from "./auth/authorizer.ts";
import { type DiscoveredAgent, discoverAgents } from "./card/discover-agents.ts";
import { discoverCard, listServerAgentUrls } from "./card/discover-card.ts";
import type { CardFetchOptions } from "./card/fetch-card.ts";
import type { GrpcClientOptions } from "./transport/transport.ts";
import type { TransportOptions } from "./transport/transport.ts";
import type { RetryOptions } from "./stream/retry.ts";
import type { ClientBindingName } from "./transport/create-transport.ts";
import { type ClientTimeouts, resolveTimeouts } from "./timeouts.ts";
import { assertValidTrustedOrigins, type TrustedOrigins } from "./trusted-origins.ts";

const RETRY_OPTION_NAMES = "initialDelayMs maxDelayMs maxRetries random sleep";

/** Options for `connect`. */
export interface ConnectOptions {
  /**
   * The protocol binding that the client uses. By default, the client uses the first supported binding in the
   * card's order. The client skips gRPC if the gRPC packages are not installed. If `fetch` is set and `grpc`
   * is not, gRPC is used only as a last resort, because gRPC calls bypass `fetch`.
   */
  readonly binding?: ClientBindingName;
  /**
   * Protocol bindings in order of preference, best first. The client's order of bindings takes precedence
   * over the card's order.
   */
  readonly preferredBindings?: readonly ClientBindingName[];
  /** Options for gRPC connections, which require the packages `@grpc/grpc-js` and `@bufbuild/protobuf`. */
  readonly grpc?: GrpcClientOptions;
  /**
   * The only protocol version that the client uses. By default, the client uses A2A 1.0 if the agent supports
   * 1.0, and otherwise A2A 0.3.
   */
  readonly version?: ProtocolVersion;
  /**
   * Whether the client may use A2A 0.3 if the agent offers A2A 1.0, but not over the requested binding.
   * Default: false.
   */
  readonly allowOlderVersion?: boolean;
  /**
   * Whether credentials may be sent to an agent whose card declares a plain HTTP URL. By default, credentials
   * are sent over plain HTTP only to the local machine and to the host of a plain HTTP URL passed to
   * `connect`.
   */
  readonly allowClearText?: boolean;
  /**
   * Origins that may receive credentials and headers although another origin serves the agent card, such as
   * `["https://agents.example.com"]`. The value `any` trusts every agent card. By default, credentials and headers
   * are sent only to the origin that serves the card. A card that `verifyCard` accepts is trusted.
   */
  readonly trustedOrigins?: TrustedOrigins;
  /**
   * Credentials, or a function that returns the headers for a security requirement of the agent card. The
   * agent card declares where the client sends the credentials. If the server requires authentication for the
   * agent card, the client sends the credentials in standard headers.
   */
  readonly auth?: ClientAuthOptions | AuthorizeFunction;
  /**
   * Verifies each agent card before use, for example with a verifier from `createCardVerifier`. The verifier
   * receives the JSON of the agent card, and throws an error to reject the card.
   */
  readonly verifyCard?: (card: unknown) => unknown;
  /**
   * URIs of the A2A extensions that the caller supports. The client requests these extensions with every
   * request. If the agent card declares the extensions for stream cursors, idempotent sending, or agent
   * steering, the client also requests them.
   */
  readonly extensions?: readonly string[];
  /**
   * HTTP headers for every request, including requests for the agent card. Because headers may contain secrets,
   * other origins that the agent card names receive them only if `trustedOrigins` contains the origin.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** The function that sends HTTP requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Aborting the signal cancels the search for the agent card. */
  readonly signal?: AbortSignal;
  /** Deadlines for finding the agent card, for calls, and for silent streams. */
  readonly timeouts?: ClientTimeouts;
  /** Retry policy for streams that lose their connection. */
  readonly reconnect?: RetryOptions;
  /**
   * Retry policy for requests that read agent cards, tasks, lists of tasks, or webhook configurations.
   * If the agent declares the idempotent send extension, `send` is also retried while the agent is
   * unreachable. Other requests with side effects are never retried.
   */
  readonly retry?: RetryOptions;
  /**
   * Whether the client accepts responses of real peers that the specification forbids. The value `all` accepts
   * the deviations that docs/interop.md lists. The value `none` rejects these responses. Default: `all`.
   */
  readonly peerLeniency?: PeerLeniency;
  /** Maximum size of a response in bytes; the client rejects larger responses. Default: 64 MiB. */
  readonly maxResponseBytes?: number;
  /** Maximum size of one stream event in bytes; the client rejects larger events. Default: 16 MiB. */
  readonly maxEventBytes?: number;
  /**
   * Maximum number of JSON values and member names in a response or a stream event. The client counts them before it
   * parses the text, because parsing many small values blocks the process. Default: 500,000, which takes about 0.1 s.
   */
  readonly maxJsonValues?: number;
  /**
   * Maximum size in bytes of the task that the events of one stream build up, measured by the size of the events. A
   * replaced artifact does not count. If a stream exceeds the limit, the stream rejects with
   * `INVALID_AGENT_RESPONSE`. The value `Infinity` disables the limit, for a stream whose content you do not keep.
   * Default: 268,435,456 (256 MiB).
   */
  readonly maxTaskBytes?: number;
  /**
   * Record of the client's traffic: the path of a JSON Lines file, options with the path, or a writer. The record
   * contains requests, responses, and stream events, without credentials. A path requires Node.js. Default: the record
   * of the server whose agent makes the call during its turn, or no record.
   */
  readonly record?: TrafficRecordOption;
}

const AUTH_OPTION_NAMES = "apiKey basic bearer mutualTls oauthClient schemeCredentials";
const assertKnownAuthOptions = defineOptionNames<ClientAuthOptions>()('"auth" of connect', AUTH_OPTION_NAMES);
const assertKnownConnectOptions = defineOptionNames<ConnectOptions>({
  auth(auth: ClientAuthOptions | AuthorizeFunction) {
    if (typeof auth !== "function") assertKnownAuthOptions(auth);
  },
  grpc: defineOptionNames<GrpcClientOptions>()('"grpc" of connect', "ca cert insecure key tls transport"),
  reconnect: defineOptionNames<RetryOptions>()('"reconnect" of connect', RETRY_OPTION_NAMES),
  retry: defineOptionNames<RetryOptions>()('"retry" of connect', RETRY_OPTION_NAMES),
  timeouts: defineOptionNames<ClientTimeouts>()(
    '"timeouts" of connect',
    "callMs connectMs sendMs streamIdleMs",
  ),
})(
  "connect",
  "allowClearText allowOlderVersion auth binding extensions fetch grpc headers maxEventBytes maxJsonValues",
  "maxResponseBytes maxTaskBytes peerLeniency preferredBindings reconnect record retry signal timeouts trustedOrigins verifyCard version",
);

/** Throws an error if an option of `connect` or `findCard`, or a member of an option, does not exist. */
export function assertKnownOptions(options: ConnectOptions): void {
  assertCredentialsInAuth(options);
  assertKnownConnectOptions(options);
  assertValidTrustedOrigins(options.trustedOrigins ?? []);
}

/** Throws an error if the options contain a credential outside of `auth`. */
function assertCredentialsInAuth(options: object | undefined): void {
  const authOptionNames = AUTH_OPTION_NAMES.split(" ");
  const misplaced = Object.keys(options ?? {}).filter((name) => authOptionNames.includes(name));
  if (misplaced.length === 0) return;
  const text = misplaced.map((name) => `connect has no option "${name}". Set auth: { ${name} }.`).join(" ");
  throw new TypeError(text);
}

/** Finds an agent card in the same way as `connect`, but does not create a client. */
export async function findCard(
  url: string,
  options: Omit<ConnectOptions, "allowClearText" | "reconnect" | "grpc" | "trustedOrigins"> = {},
): Promise<{ readonly card: AgentCard; readonly json: unknown; readonly url: string }> {
  assertKnownOptions(options);
  const source = createCardFetchOptions(createTransportOptions(options), options);
  return await discoverCard(source, url, options.signal);
}

/**
 * Lists the agents of a host, whatever its server is. `url` is the URL of the host, such as `https://example.com`.
 * `discover` reads `/.well-known/ai-catalog.json` (AI Catalog), or else `/.well-known/api-catalog` (RFC 9727), or else the
 * agent card of the host. Agent cards of other origins than the catalog are read only if `trustedOrigins` contains their
 * origin, because `headers` and `auth` apply to every request. An agent whose card cannot be read has an `error`.
 */
export async function discover(
  url: string,
  options: Omit<ConnectOptions, "allowClearText" | "reconnect" | "grpc"> = {},
): Promise<DiscoveredAgent[]> {
  assertKnownOptions(options);
  const source = createCardFetchOptions(createTransportOptions(options), options);
  return await discoverAgents(source, url, options.trustedOrigins ?? [], options.signal);
}

/**
 * Returns the URLs of the agents that the server of an agent lists, starting with the default agent. The list is empty
 * if the server is no Colloquy server.
 */
export function listServerAgents(agentUrl: string, options: ConnectOptions = {}): Promise<string[]> {
  return listServerAgentUrls(createTransportOptions(options), new URL(agentUrl), options.signal);
}

export function createTransportOptions(options: ConnectOptions): TransportOptions {
  const { extensions = [], version = "1.0" } = options;
  return {
    fetch: options.fetch ?? fetch,
    headers: options.headers ?? {},
    version,
    extensions,
    peerLeniency: options.peerLeniency ?? "all",
    maxResponseBytes: options.maxResponseBytes ?? 64 * 2 ** 20,
    maxEventBytes: options.maxEventBytes ?? 16 * 2 ** 20,
    maxJsonValues: options.maxJsonValues ?? 500_000,
    streamIdleMs: resolveTimeouts(options.timeouts).streamIdleMs,
    ...(options.grpc ? { grpc: options.grpc } : {}),
  };
}

export function createCardFetchOptions(
  http: TransportOptions,
  { auth, verifyCard, retry = {}, timeouts }: ConnectOptions,
): CardFetchOptions {
  const monotonicNow = getMonotonicTimeMs;
  const authorizer = auth && createChallengeAuthorizer({ auth, fetch: http.fetch, monotonicNow });
  // Only 1.0 cards are signed, and a 1.0 card also names the 0.3 interfaces.
  const version = verifyCard ? "1.0" : http.version;
  return {
    transportOptions: { ...http, version, ...(authorizer ? { authorizer } : {}) },
    verifyCard,
    retry,
    timeoutMs: resolveTimeouts(timeouts).connectMs,
    monotonicNow,
  };
}
