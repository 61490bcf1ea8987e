import type { EngineLimits, Observer } from "../engine/index.ts";
import type { ProtocolVersion, SpecRevision } from "../wire/index.ts";
import type { AuthenticationOption } from "./auth/authenticator.ts";
import type { MountedHandler } from "./mounted-handler.ts";
import type { CardFormat } from "./card/card-format.ts";
import type { CardSigningOptions } from "./card/card-signing.ts";
import type { StoreOption } from "./resolve-store.ts";
import type { PushOptions } from "./push/push-service.ts";
import type { TenantsOption } from "./tenants.ts";

/** Bounds of a server; each has a default that suits one process. */
export interface ServerLimits extends Partial<EngineLimits> {
  /** Largest request body, in bytes. Default 10 MiB. */
  readonly maxBodyBytes?: number;
}

export interface ServerOptions {
  /** Where tasks live. Default `sqlite:.colloquy/colloquy.db`: durable, in the working directory. */
  readonly store?: StoreOption;
  /** The versions of A2A that are spoken, the preferred one first. Default 1.0 and 0.3. */
  readonly versions?: readonly ProtocolVersion[];
  /**
   * The card for those who do not say their version: one of them, or `hybrid`, one object that readers of both
   * understand. Default `hybrid` where both versions are spoken. Whoever sends `A2A-Version` gets that version's card.
   */
  readonly cardFormat?: CardFormat;
  /** Which patch of A2A 1.0 the REST media type and status table follow. Default 1.0.1. */
  readonly specRevision?: SpecRevision;
  /** What a request without `A2A-Version` means: `0.3`, as the specification says (default), or what it looks like. */
  readonly missingVersionPolicy?: "0.3" | "infer";
  /**
   * Give a message that comes without a `messageId` a new one, for clients that leave out what A2A §4.1.4 requires; such a
   * message is never known again when it is sent twice. Default false: it is refused.
   */
  readonly autoMessageId?: boolean;
  /** Serve the simple dialect to requests of 0.3 that are not 0.3's but its own. Default true. */
  readonly simpleDialect?: boolean;
  /**
   * Where clients reach this server, for example `https://example.com/agents` for a proxy that takes `/agents` off the
   * path. Default: as each request says.
   */
  readonly publicUrl?: string;
  /**
   * The path below which a host mounts this server, for example `/agents`: the host hands it on as a part of each path, and
   * it stands in the URLs of cards unless `publicUrl` says where clients come from. Default: the root.
   */
  readonly basePath?: string;
  /** What else is to be reached at this server's address. Default: nothing but its agents. */
  readonly mountedHandlers?: readonly MountedHandler[];
  /**
   * Whether a message part of a media type that the agent does not declare (`defaultInputModes`, `inputModePolicy` of its
   * skills) is refused, as A2A §3.1.1 has it (default), or left to the agent. An agent that declares none gets everything.
   */
  readonly inputModePolicy?: "enforce" | "ignore";
  /**
   * Signs the cards, with every key that is given (A2A §8.4): a new one beside the old while clients change over. The
   * public keys stand at `/.well-known/jwks.json`. Takes `publicUrl`, but on this machine alone: a signature vouches for the
   * address in the card, which otherwise is what each request says.
   */
  readonly cardSigning?: CardSigningOptions | readonly CardSigningOptions[];
  /**
   * Says who asks: a function, or one or several of what `colloquy/auth` makes, which the agents' cards then declare.
   * Without it everybody is the same caller, and only loopback is listened on.
   */
  readonly authenticate?: AuthenticationOption;
  /** The tenants that are served; others are NOT_FOUND. Default: any, each by itself. */
  readonly tenants?: TenantsOption;
  /**
   * How push notifications are sent; false sends none. Default: to webhooks on the public internet only, retried for a
   * day, unsigned.
   */
  readonly push?: PushOptions | false;
  /** Listen beyond loopback without authentication. Default false. */
  readonly allowUnauthenticated?: boolean;
  readonly limits?: ServerLimits;
  readonly observer?: Observer;
  /** Merge chunks of text that wait for the same commit. Default true. */
  readonly mergeChunks?: boolean;
  /**
   * Recognise a message that is sent again, by its id: the same task, not a second one (A2A §3.3.1). Default true. Turn it
   * off for clients that use an id for different messages, as the A2A TCK does.
   */
  readonly deduplicateMessages?: boolean;
  /** Silence on a stream after which a comment is sent (over gRPC: a ping), in milliseconds. Default 15,000; 0 sends none. */
  readonly heartbeatMs?: number;
  /** How long a cancelled agent may take to stop, in milliseconds. Default 5,000. */
  readonly cancelGraceMs?: number;
}

export const SUPPORTED_VERSIONS: readonly ProtocolVersion[] = ["1.0", "0.3"];

/** What options of a few words may say. */
const ALLOWED_VALUES = {
  cardFormat: ["v1", "v0.3", "hybrid"],
  specRevision: ["1.0.0", "1.0.1"],
  missingVersionPolicy: ["0.3", "infer"],
  inputModePolicy: ["enforce", "ignore"],
} satisfies { readonly [Name in keyof ServerOptions]?: readonly ServerOptions[Name][] };

/** Refuses what would be found out late, or not at all: for callers without types too, and for values from outside. */
export function assertValidOptions(options: ServerOptions): void {
  const {
    versions = SUPPORTED_VERSIONS,
    cardFormat: card,
    publicUrl,
    basePath,
    tenants,
    cardSigning: signing,
  } = options;
  if (
    !Array.isArray(versions) ||
    versions.length === 0 ||
    !versions.every((one) => SUPPORTED_VERSIONS.includes(one))
  )
    throw createOptionError("versions", versions, `give a list of "1.0", "0.3" or both`);
  for (const [name, words] of Object.entries(ALLOWED_VALUES)) {
    const value = options[name as keyof typeof ALLOWED_VALUES];
    if (value !== undefined && !(words as readonly string[]).includes(value))
      throw createOptionError(
        name,
        value,
        `it is one of ${words.map((word) => JSON.stringify(word)).join(", ")}`,
      );
  }
  if (card !== undefined && card !== "v1" && !versions.includes("0.3"))
    throw createOptionError("card", card, `that card needs "0.3" among the versions`);
  if (publicUrl !== undefined && !isHttpUrl(publicUrl))
    throw createOptionError("publicUrl", publicUrl, "give a whole URL, such as https://example.com/agents");
  if (basePath !== undefined && !/^(\/[A-Za-z0-9._~-]+)+$/.test(basePath))
    throw createOptionError(
      "basePath",
      basePath,
      "give a path that begins with a slash and ends without, such as /agents",
    );
  if (tenants !== undefined && typeof tenants !== "function" && !Array.isArray(tenants))
    throw createOptionError(
      "tenants",
      tenants,
      `give a list of names, or a function that says who may be in one`,
    );
  for (const key of Array.isArray(signing) ? signing : signing === undefined ? [] : [signing])
    if (typeof key !== "object" || key === null || !("privateKey" in key))
      throw new Error(`"signing" has a key without "privateKey"; give a JWK, or PEM with "alg" beside it.`);
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return (url?.protocol === "https:" || url?.protocol === "http:") && url.search === "" && url.hash === "";
}

function createOptionError(name: string, value: unknown, advice: string): Error {
  return new Error(`${JSON.stringify(name)} is ${JSON.stringify(value)}; ${advice}.`);
}
