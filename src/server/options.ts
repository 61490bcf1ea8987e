import type { EngineLimits, Observer } from "../engine/index.ts";
import type { ProtocolVersion, SpecRevision } from "../wire/index.ts";
import type { AuthenticationOption } from "./auth/authenticator.ts";
import type { MountedHandler } from "./mounted-handler.ts";
import type { CardFormat } from "./card/card-format.ts";
import type { CardSigningOptions } from "./card/card-signing.ts";
import type { StoreOption } from "./resolve-store.ts";
import type { PushOptions } from "./push/push-service.ts";
import type { TenantsOption } from "./tenants.ts";

/** Resource limits of a server. The defaults suit a single process. */
export interface ServerLimits extends Partial<EngineLimits> {
  /** Maximum size of a request body, in bytes. Default: 10 MiB. */
  readonly maxBodyBytes?: number;
}

/** Options for `createServer`. */
export interface ServerOptions {
  /**
   * Task store of the server. Default: `sqlite:.colloquy/colloquy.db`, a durable store in the working
   * directory.
   */
  readonly store?: StoreOption;
  /** A2A versions that the server accepts, in order of preference. Default: `["1.0", "0.3"]`. */
  readonly versions?: readonly ProtocolVersion[];
  /**
   * Format of the agent card for requests without an `A2A-Version` header. A `hybrid` card is one object that
   * 1.0 and 0.3 clients can both read. A request with the header receives the card of its version. Default:
   * `hybrid` when the server accepts both versions.
   */
  readonly cardFormat?: CardFormat;
  /**
   * Patch release of A2A 1.0 that determines the media type and the status codes of HTTP+JSON. Default:
   * `1.0.1`.
   */
  readonly specRevision?: SpecRevision;
  /**
   * Version of a request without an `A2A-Version` header. The value `0.3` follows the specification. The
   * value `infer` selects the version that the form of the request suggests. Default: `0.3`.
   */
  readonly missingVersionPolicy?: "0.3" | "infer";
  /**
   * Assigns an id to a message without a `messageId`, for clients that omit this required member (A2A
   * §4.1.4). The server cannot recognize duplicates of a message with an assigned id. Default: false, which
   * rejects the message.
   */
  readonly autoMessageId?: boolean;
  /**
   * Whether the server accepts the simple dialect for 0.3 requests that A2A 0.3 does not define. Default:
   * true.
   */
  readonly simpleDialect?: boolean;
  /**
   * Public base URL of the server, for example `https://example.com/agents` behind a proxy that removes
   * `/agents` from the path. Default: the origin of each request.
   */
  readonly publicUrl?: string;
  /**
   * URL prefix under which a host application mounts this server, for example `/agents`. The host must pass
   * the full, unstripped request path. Card URLs include the prefix unless `publicUrl` is set. Default: no
   * prefix.
   */
  readonly basePath?: string;
  /** Other request handlers at the address of this server. Default: none. */
  readonly mountedHandlers?: readonly MountedHandler[];
  /**
   * Handling of message parts with a media type that the agent does not declare in `defaultInputModes` or in
   * the `inputModes` of its skills. The value `enforce` rejects the message (A2A §3.1.1), and `ignore` passes
   * the message to the agent. An agent that declares no media types receives every message. Default:
   * `enforce`.
   */
  readonly inputModePolicy?: "enforce" | "ignore";
  /**
   * Keys that sign the agent cards (A2A §8.4). Use several keys during key rotation. The public keys are
   * published at `/.well-known/jwks.json`. Requires `publicUrl` unless the server listens on loopback:
   * otherwise the Host header of a request would determine the signed address. Default: cards are not signed.
   */
  readonly cardSigning?: CardSigningOptions | readonly CardSigningOptions[];
  /**
   * Authenticates the caller of each request: a function, a scheme from `colloquy/auth`, or a list of them.
   * Agent cards declare the schemes. Without `authenticate`, all requests have the same caller, and the
   * server listens on loopback only.
   */
  readonly authenticate?: AuthenticationOption;
  /**
   * Tenants that the server accepts. A request for another tenant fails with NOT_FOUND. Default: every tenant
   * is accepted, and tenants are isolated from each other.
   */
  readonly tenants?: TenantsOption;
  /**
   * Options for push notifications, or `false` to disable them. Default: the server sends unsigned
   * notifications to webhooks on the public internet, and retries for 24 hours.
   */
  readonly push?: PushOptions | false;
  /** Allows the server to listen beyond loopback without authentication. Default: false. */
  readonly allowUnauthenticated?: boolean;
  /** Resource limits of the server. */
  readonly limits?: ServerLimits;
  /** Receives events, errors, and other notifications from the server. */
  readonly observer?: Observer;
  /** Merges text chunks that wait for the same commit. Default: true. */
  readonly mergeChunks?: boolean;
  /**
   * Recognizes a repeated message by its id and returns the existing task (A2A §3.3.1). Disable deduplication
   * for clients that reuse ids for different messages, such as the A2A TCK. Default: true.
   */
  readonly deduplicateMessages?: boolean;
  /**
   * Time in milliseconds after which the server sends a comment on an idle stream, or a ping over gRPC.
   * Default: 15,000. The value 0 disables heartbeats.
   */
  readonly heartbeatMs?: number;
  /** Time in milliseconds that a canceled agent has to stop. Default: 5,000. */
  readonly cancelGraceMs?: number;
}

/** A2A versions that this library supports, in order of preference. */
export const SUPPORTED_VERSIONS: readonly ProtocolVersion[] = ["1.0", "0.3"];

/** Allowed values of the options with a fixed set of values. */
const ALLOWED_VALUES = {
  cardFormat: ["v1", "v0.3", "hybrid"],
  specRevision: ["1.0.0", "1.0.1"],
  missingVersionPolicy: ["0.3", "infer"],
  inputModePolicy: ["enforce", "ignore"],
} satisfies { readonly [Name in keyof ServerOptions]?: readonly ServerOptions[Name][] };

/** Throws for invalid options. The types do not protect untyped code and values from outside. */
export function assertValidOptions(options: ServerOptions): void {
  const { versions = SUPPORTED_VERSIONS, cardFormat, publicUrl, basePath, tenants, cardSigning } = options;
  if (
    !Array.isArray(versions) ||
    versions.length === 0 ||
    !versions.every((one) => SUPPORTED_VERSIONS.includes(one))
  )
    throw createOptionError("versions", versions, `use a list of "1.0", "0.3", or both`);
  for (const [name, allowed] of Object.entries(ALLOWED_VALUES)) {
    const value = options[name as keyof typeof ALLOWED_VALUES];
    if (value !== undefined && !(allowed as readonly string[]).includes(value))
      throw createOptionError(
        name,
        value,
        `use one of ${allowed.map((text) => JSON.stringify(text)).join(", ")}`,
      );
  }
  if (cardFormat !== undefined && cardFormat !== "v1" && !versions.includes("0.3"))
    throw createOptionError("cardFormat", cardFormat, `this format requires "0.3" in "versions"`);
  if (publicUrl !== undefined && !isHttpUrl(publicUrl))
    throw createOptionError(
      "publicUrl",
      publicUrl,
      "use an absolute URL, such as https://example.com/agents",
    );
  if (basePath !== undefined && !/^(\/[A-Za-z0-9._~-]+)+$/.test(basePath))
    throw createOptionError(
      "basePath",
      basePath,
      "use a path with a leading slash and no trailing slash, such as /agents",
    );
  if (tenants !== undefined && typeof tenants !== "function" && !Array.isArray(tenants))
    throw createOptionError(
      "tenants",
      tenants,
      `use a list of names, or a function that decides whether a caller may use a tenant`,
    );
  for (const key of Array.isArray(cardSigning) ? cardSigning : cardSigning === undefined ? [] : [cardSigning])
    if (typeof key !== "object" || key === null || !("privateKey" in key))
      throw new Error(`"cardSigning" has a key without "privateKey"; use a JWK, or PEM together with "alg".`);
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return (url?.protocol === "https:" || url?.protocol === "http:") && url.search === "" && url.hash === "";
}

function createOptionError(name: string, value: unknown, advice: string): Error {
  return new Error(`${JSON.stringify(name)} is ${JSON.stringify(value)}; ${advice}.`);
}
