import type { EngineLimits, Observer, TurnLimits } from "../engine/index.ts";
import type { RetentionOptions } from "../stores/retention/index.ts";
import {
  type PeerLeniency,
  type ProtocolVersion,
  type SpecPatchVersion,
  DEFAULT_MAX_JSON_VALUES,
} from "../wire/index.ts";
import type { AuthenticationOption } from "./auth/authenticator.ts";
import type { MountedHandler } from "./mounted-handler.ts";
import type { OperatorOptions } from "./operator-access.ts";
import type { CardFormat } from "./card/agent-card-publisher.ts";
import type { CardSigningOptions } from "./card/card-signing.ts";
import type { StoreOption } from "./resolve-store.ts";
import type { TrafficRecordOption } from "../observe/trace/recording/index.ts";
import type { TenantsOption } from "./perform-operation.ts";
import type { PushLimits, RetryPolicy } from "../webhooks/index.ts";
import type { PushSigningOptions } from "./push/push-signer.ts";
import type { WebhookUrlGuardOptions } from "./push/webhook-url-guard.ts";

/** Part of a server in a group of servers with the same store. */
export type ServerRole = "web" | "worker" | "all";

/** Default time in milliseconds between two signs of life on a silent stream. */
export const DEFAULT_HEARTBEAT_MS = 15_000;

/** Options for `createServer`. */
export interface ServerOptions extends TurnLimits {
  /**
   * Task store of the server. The default task store is `sqlite:.colloquy/colloquy.db`, a durable SQLite
   * store in the working directory.
   */
  readonly store?: StoreOption;
  /**
   * How long the server keeps tasks, or `false` to keep all tasks. By default, the server deletes the events
   * of a task 7 days after its end, and the task 30 days after its end. A task that waits for its user is
   * deleted after 90 days.
   */
  readonly retention?: RetentionOptions | false;
  /**
   * Whether the server opens a local socket next to the file of its store. `colloquy store` uses the socket
   * to maintain the store while the server runs. Only the user of the server can connect. Default: true.
   */
  readonly maintenanceSocket?: boolean;
  /** A2A versions that the server accepts, in order of preference. Default: `["1.0", "0.3"]`. */
  readonly versions?: readonly ProtocolVersion[];
  /**
   * Format of the agent card for requests without an `A2A-Version` header. A `hybrid` agent card is an object
   * that A2A 1.0 and 0.3 clients can both read. A request with an `A2A-Version` header receives the agent
   * card of the requested version. The default format is `hybrid` if the server accepts both A2A versions.
   */
  readonly cardFormat?: CardFormat;
  /**
   * Time in seconds for which clients may use an agent card without asking for a newer one. Clients ask with the
   * card's ETag. Default: 300.
   */
  readonly cardMaxAgeSeconds?: number;
  /**
   * Patch release of A2A 1.0. The patch release determines the media type and status codes of the HTTP+JSON
   * binding. Default: `1.0.1`.
   */
  readonly specRevision?: SpecPatchVersion;
  /**
   * A2A version that the server assumes for a request without an `A2A-Version` header. The value `0.3`
   * selects A2A 0.3, as the specification requires. The value `infer` selects the A2A version that the path
   * or body of the request suggests, and otherwise A2A 0.3. Clients of A2A 1.0 that omit the header, such as
   * a2a-java 1.0.0.Alpha3, require `infer`. Default: `0.3`.
   */
  readonly missingVersionPolicy?: "0.3" | "infer";
  /**
   * Whether the server accepts requests of real peers that the specification forbids. The value `all` accepts
   * the deviations that docs/interop.md lists. The value `none` accepts only what the specification allows,
   * for conformance tests. Default: `all`.
   */
  readonly peerLeniency?: PeerLeniency;
  /**
   * Whether the server assigns an id to a message without the required `messageId` (A2A §4.1.4). If the
   * server assigns the id, the server cannot recognize duplicates of the message. By default, the server
   * rejects messages without a `messageId`.
   */
  readonly autoMessageId?: boolean;
  /**
   * Whether the server also accepts the simple dialect. A2A 0.3 does not define the requests of the simple
   * dialect. Default: true.
   */
  readonly simpleDialect?: boolean;
  /**
   * Public base URL of the server, for example `https://example.com/agents` behind a proxy that removes
   * `/agents` from the path. The default base URL is the origin of each request.
   */
  readonly publicUrl?: string;
  /**
   * URL prefix where a host app mounts this server, for example `/agents`. The host app must pass the full,
   * unstripped request path. URLs in agent cards include `basePath` unless `publicUrl` is set. Default: no
   * prefix.
   */
  readonly basePath?: string;
  /**
   * Current agent ids by earlier ids. The server accepts an earlier id in URL paths. Default: none.
   */
  readonly previousAgentIds?: Readonly<Record<string, string>>;
  /**
   * Origins whose web pages may send state-changing requests from browsers, such as `https://shop.example`, or
   * `*` for all web pages. The host app must also allow these origins in its CORS configuration. Requests of
   * other clients have no origin, and are not affected. Default: only the server's own origin.
   */
  readonly allowedOrigins?: readonly string[] | "*";
  /**
   * Pages of other origins that may call the agents and read the responses. The pages may also send state-changing
   * requests, so `allowedOrigins` is not needed. Omit the option if the host app answers preflight requests. By default,
   * the server answers no preflight requests.
   */
  readonly cors?: CorsOptions;
  /** Request handlers that share the port of this server with the agents. Default: none. */
  readonly mountedHandlers?: readonly MountedHandler[];
  /**
   * Policy for messages with media types that the agent does not declare. Agents declare media types in
   * `defaultInputModes` and in the `inputModes` of skills. The value `enforce` rejects the message (A2A
   * §3.1.1), and `ignore` passes the message to the agent. An agent that declares no input modes receives all
   * messages. Default: `enforce`.
   */
  readonly inputModePolicy?: "enforce" | "ignore";
  /**
   * Private keys that sign agent cards (A2A §8.4). Set several signing keys during key rotation. The server
   * publishes the public keys at `/.well-known/jwks.json`. Card signing requires `publicUrl` unless the
   * server listens on loopback. Without `publicUrl`, the Host header of a request would determine the signed
   * URL. By default, agent cards are not signed.
   */
  readonly cardSigning?: CardSigningOptions | readonly CardSigningOptions[];
  /**
   * Authenticates the caller of each request. The value is a function, an authentication scheme from
   * `colloquy/auth`, or a list of functions and schemes. Agent cards declare the authentication schemes.
   * Without `authenticate`, all requests have the same caller, and the server listens only on loopback.
   */
  readonly authenticate?: AuthenticationOption;
  /**
   * Operators, who see and control the tasks of all callers in the console. Each access of an operator is reported to
   * `Observer.onOperatorAccess`, and the default observer logs the access. Default: no operators.
   */
  readonly operator?: OperatorOptions;
  /**
   * Whether the store indexes the text of tasks, so that users of the console can search for words. The index contains
   * the different words in the first 32,768 characters of each task. In scripts without spaces between words, such as
   * Chinese, a search finds every part of a text. Set the option on all servers with the same PostgreSQL database.
   * Default: false.
   */
  readonly textIndex?: boolean;
  /**
   * Tenants that the server accepts. A request for another tenant fails with NOT_FOUND. By default, the
   * server accepts every tenant, and isolates tenants from each other.
   */
  readonly tenants?: TenantsOption;
  /**
   * Options for push notifications, or `false` to disable push notifications. By default, the server sends
   * unsigned push notifications to webhooks on the public internet, and retries failed deliveries for 24
   * hours.
   */
  readonly push?: PushOptions | false;
  /** Whether the server may listen beyond loopback without authentication. Default: false. */
  readonly allowUnauthenticated?: boolean;
  /** Resource limits of the server, such as the maximum number of concurrent agent runs. */
  readonly limits?: ServerLimits;
  /**
   * Observer that receives events, errors, and other notifications from the server. The default observer
   * writes errors to stderr (`createLogObserver`). The value `false` disables the default observer.
   */
  readonly observer?: Observer | false;
  /** Whether the server merges text chunks that wait for the same commit. Default: true. */
  readonly mergeChunks?: boolean;
  /**
   * Whether the server recognizes repeated messages by their `messageId` (A2A §3.3.1). For a repeated
   * message, the server returns the existing task. Disable deduplication for clients that use the same id for
   * different messages, such as the A2A TCK. Default: true.
   */
  readonly deduplicateMessages?: boolean;
  /**
   * Part of this server in a group of servers with the same PostgreSQL store. `web` accepts requests and starts no
   * agents. `worker` starts the agents for messages that other servers have accepted, and accepts no A2A requests.
   * Default: `all`, which does both.
   */
  readonly role?: ServerRole;
  /**
   * Record of the server's traffic: the path of a JSON Lines file, options with the path, or a writer. The record
   * contains requests, streams, events, turns, and push notifications, without credentials. A slow or full disk loses
   * lines of the record, and does not affect tasks. Default: no record.
   */
  readonly record?: TrafficRecordOption;
  /**
   * Bearer token of `POST /tick`, with which a scheduler makes the server process waiting turns and push notifications.
   * Default: the environment variable `COLLOQUY_TICK_TOKEN`. Without a token, the endpoint does not exist.
   */
  readonly tickToken?: string;
  /**
   * Time in milliseconds before the server sends a heartbeat on an idle stream, as an SSE comment or a gRPC
   * ping. Default: 15,000. The value 0 disables heartbeats.
   */
  readonly heartbeatMs?: number;
  /**
   * Whether the server replies to `GET /healthz` and `GET /readyz`. The replies contain only the state of the
   * server and of its task store, and need no authentication. Default: true.
   */
  readonly healthEndpoints?: boolean;
  /**
   * Options for traces and for the export of spans and metrics, or `false` to start no spans. By default, the server
   * continues the traces of its callers, and records spans and metrics if the program has registered providers of
   * OpenTelemetry.
   */
  readonly telemetry?: TelemetryOptions | false;
  /** Options for the metrics endpoint. By default, the server has no metrics endpoint. */
  readonly metrics?: MetricsOptions;
  /** Maximum time in milliseconds that a canceled agent has to stop. Default: 5,000. */
  readonly cancelGraceMs?: number;
}

/** A2A versions that this library supports, in order of preference. */
export const SUPPORTED_A2A_VERSIONS: readonly ProtocolVersion[] = ["1.0", "0.3"];

/** Options for pages of other origins. */
export interface CorsOptions {
  /** Origins of the pages, such as `https://shop.example`, or `*` for all pages. */
  readonly origins: readonly string[] | "*";
  /**
   * Whether pages may send the cookies and TLS client certificates of the browser. Bearer tokens and API keys need no
   * such permission. Requires a list of origins. Default: false.
   */
  readonly credentials?: boolean;
  /** Whether pages of public websites may call a server in a private network. Default: false. */
  readonly privateNetwork?: boolean;
  /** Time in seconds for which browsers keep the answer to a preflight request. Default: 600. */
  readonly maxAgeSeconds?: number;
}

/** Options for traces and for the export of spans and metrics. */
export interface TelemetryOptions {
  /**
   * Base URL of a collector, such as `http://127.0.0.1:4318`, which receives spans and metrics over OTLP/HTTP. Requires
   * packages of OpenTelemetry, which ADK also installs. Ignored if the program has registered its own provider. By
   * default, the server exports nothing.
   */
  readonly otlp?: string;
  /** Headers of requests to the collector, such as an API key. */
  readonly otlpHeaders?: Readonly<Record<string, string>>;
  /** Name of the service in exported traces. Default: the environment variable `OTEL_SERVICE_NAME`, or `colloquy`. */
  readonly serviceName?: string;
  /**
   * Share of the new traces that the server exports, from 0 to 1. Callers that send `traceparent` decide for their own
   * traces. Default: 1.
   */
  readonly sampleRatio?: number;
  /** Time in milliseconds between two exports of metrics. Default: 60,000. */
  readonly metricIntervalMs?: number;
}

/** Options for the metrics endpoint, which replies in the format of Prometheus. */
export interface MetricsOptions {
  /**
   * Bearer token of `GET /metrics` on the port of the server. Default: the environment variable
   * `COLLOQUY_METRICS_TOKEN`. Without a token, the port of the server has no metrics.
   */
  readonly token?: string;
  /**
   * Port of a separate HTTP server, which replies to `GET /metrics` without authentication. Keep the port inside of your
   * network. By default, there is no separate server.
   */
  readonly port?: number;
  /** Network interface of the separate server. Default: `127.0.0.1`. */
  readonly host?: string;
}

/** Resource limits of a server. The default values are intended for a single-process server. */
export interface ServerLimits extends Partial<EngineLimits> {
  /** Maximum size of a request body, in bytes. Default: 10 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * Maximum number of JSON values and member names in a request. The server counts them before it parses the
   * request, because parsing many small values stops all other requests. Default: 50,000, which takes at most
   * about 0.1 s.
   */
  readonly maxJsonValues?: number;
  /**
   * Maximum number of bytes of unfinished request bodies and unread responses that the server holds in memory. Each
   * caller has a fair share, and so has each remote address without an authenticated caller: a fifth of the bytes for a
   * single one, and less while others are active. Default: 128 MiB, or twice the larger one of `taskSize` and
   * `maxBodyBytes` if you set these limits and the result is larger.
   */
  readonly bufferedBytes?: number;
  /**
   * Time in milliseconds after which the server disconnects a client that does not take the next 256 KiB of a response.
   * A client that reads 25 KB per second stays connected. The value 0 disables the limit. Default: 60,000.
   */
  readonly writeStallMs?: number;
  /**
   * Maximum number of open HTTP connections. Each remote address has a fair share, so a single address can open half of
   * the connections. Applies to `listen`. Default: 20,000.
   */
  readonly connections?: number;
}

/** The limits of requests, of the HTTP listener, and of the byte ledger. */
interface TransportLimits {
  readonly maxBodyBytes: number;
  readonly maxJsonValues: number;
  readonly bufferedBytes: number;
  readonly writeStallMs: number;
  readonly connections: number;
}

const DEFAULT_MAX_BODY_BYTES = 10 * 2 ** 20;
const MIN_DEFAULT_BUFFERED_BYTES = 128 * 2 ** 20;

export function resolveTransportLimits(limits: ServerLimits = {}): TransportLimits {
  const { maxBodyBytes = DEFAULT_MAX_BODY_BYTES, writeStallMs = 60_000, connections = 20_000 } = limits;
  const { taskSize = 0, maxJsonValues = DEFAULT_MAX_JSON_VALUES } = limits;
  const bufferedBytes =
    limits.bufferedBytes ?? Math.max(MIN_DEFAULT_BUFFERED_BYTES, 2 * taskSize, 2 * maxBodyBytes);
  return { maxBodyBytes, maxJsonValues, bufferedBytes, writeStallMs, connections };
}

/** Options for push notifications, with default values that are safe on the public internet. */
export interface PushOptions extends WebhookUrlGuardOptions, Partial<PushLimits> {
  /**
   * Private key that signs push notifications. The server publishes the public key at
   * `/.well-known/jwks.json`. Without a key, push notifications are unsigned.
   */
  readonly signing?: PushSigningOptions;
  /**
   * Whether replies omit the token and the credentials of push configurations. By default, replies contain
   * the token and the credentials. Only the caller that created a push configuration can read the
   * configuration.
   */
  readonly redactSecrets?: boolean;
  /**
   * Whether a receiver must confirm each webhook before its first notification. The server sends a POST request with
   * the header `X-A2A-Notification-Challenge`, and the receiver must return the value of the header as its response
   * body. `createWebhook` does this. Default: false, because the A2A specification defines no challenge.
   */
  readonly challenge?: boolean;
  /** Maximum duration of a delivery attempt in milliseconds. Default: 15,000. */
  readonly timeoutMs?: number;
  /** Retry policy for failed deliveries to webhooks. */
  readonly retry?: Partial<RetryPolicy>;
}
