import { A2AError, type AgentCard, type AgentInterface } from "../protocol/index.ts";
import type { ProtocolVersion } from "../wire/index.ts";
import { createAuthorizer } from "./auth/authorizer.ts";
import { whenAsked } from "./auth/when-asked.ts";
import type { Authorize, ClientAuth } from "./auth/client-auth.ts";
import { CardHolder } from "./card/card-holder.ts";
import { chooseInterface, versionOf } from "./choose-interface.ts";
import { clearTextRefusal, withoutHeaders } from "./clear-text.ts";
import { discover } from "./card/discover.ts";
import type { CardSource } from "./card/fetch-card.ts";
import { type GrpcConnection, isGrpcHere } from "./transport/grpc-transport.ts";
import { explaining } from "./explain.ts";
import type { Http } from "./transport/http.ts";
import { lingering } from "./stream/linger.ts";
import type { Reconnect } from "./stream/reconnect.ts";
import { remote, type Remote } from "./remote.ts";
import { type ClientBinding, transportFor } from "./transport/transport-for.ts";

export interface ConnectOptions {
  /**
   * Default: the first one in the card's order. gRPC counts if its packages are there; behind the others for who has a
   * `fetch` of their own, past which it would go, and does not give `grpc`.
   */
  readonly binding?: ClientBinding;
  /** Bindings that are taken before others where the agent offers them, the best first. */
  readonly prefer?: readonly ClientBinding[];
  /** Takes the packages `@grpc/grpc-js` and `@bufbuild/protobuf`. */
  readonly grpc?: GrpcConnection;
  /** Pins the version. Default: 1.0 with every agent that has it, 0.3 with those that have nothing else. */
  readonly version?: ProtocolVersion;
  /** True: 0.3 may also be spoken with an agent that has 1.0, where it has the binding only so. */
  readonly allowOlder?: boolean;
  /**
   * True: credentials may go to an agent that its card names in clear text (`http:`). Default: only to this machine, or
   * to the host that `url` itself names with `http:`.
   */
  readonly allowClearText?: boolean;
  /**
   * Credentials, which go to the agent in the way that its card asks for; or a function that gives the headers for a
   * requirement of the card. For a card that is not shown without any, they go there, too, in the usual way.
   */
  readonly auth?: ClientAuth | Authorize;
  /**
   * Rejects for cards that are not to be trusted, as `createCardVerifier` makes it. Given each as it was served, before
   * it is used.
   */
  readonly verify?: (card: unknown) => unknown;
  /** The URIs of the extensions that the caller speaks; asked for with every request. */
  readonly extensions?: readonly string[];
  /** Sent with every request as they are: for the card, too, and also where the card names another host than its own. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Aborts the search for the card. */
  readonly signal?: AbortSignal;
  /** How streams that are cut go on. */
  readonly reconnect?: Reconnect;
  /** How reads are repeated: cards, tasks, lists, configurations. What does something never is. */
  readonly retry?: Reconnect;
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
  return await discover(sourceOf(httpOf(options), options), url, options.signal);
}

function httpOf(options: ConnectOptions): Http {
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

function sourceOf(http: Http, { auth, verify, retry = {} }: ConnectOptions): CardSource {
  const now = Date.now;
  const authorizer = auth && whenAsked({ auth, fetch: http.fetch, now });
  // Only a card of 1.0 can be signed, and it names the interfaces of 0.3 as well.
  const version = verify ? "1.0" : http.version;
  return { http: { ...http, version, ...(authorizer ? { authorizer } : {}) }, verify, retry, now };
}

/** Finds an agent by the URL of its host, its card or itself, and speaks with it as its card says. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<Remote> {
  const { auth, extensions = [], reconnect = {}, retry = {}, version = "1.0" } = options;
  const http = httpOf(options);
  const source = sourceOf(http, options);
  const found = await discover(source, url, options.signal);
  const via = await choose(found.card, options);
  requireExtensions(found.card, extensions);
  const origin = originOf(via);
  const refusal = options.allowClearText ? undefined : clearTextRefusal(via, found.url, options.grpc);
  if (refusal && (auth || Object.keys(http.headers).length > 0)) throw refusal;
  const authorizer = auth && {
    authorizer: createAuthorizer(found.card, { auth, origin, fetch: http.fetch, now: Date.now }),
  };
  const transport = await transportFor(via, { ...http, ...authorizer, version: versionOf(via) ?? version });
  const guarded = refusal ? withoutHeaders(transport, refusal) : transport;
  const patient = transport.version === "0.3" ? lingering(guarded, reconnect) : guarded;
  return remote({
    cards: new CardHolder(source, found),
    via,
    transport: auth ? patient : explaining(patient, found.card),
    reconnect,
    retry,
  });
}

/** The interface that is spoken to; whether gRPC can be is looked at only where it would be. */
async function choose(card: AgentCard, options: ConnectOptions): Promise<AgentInterface> {
  const first = chooseInterface(card, options);
  const isAsked = options.binding !== undefined || options.prefer?.includes("GRPC") === true;
  if (first.protocolBinding !== "GRPC" || isAsked) return first;
  const isWanted = options.fetch === undefined || options.grpc !== undefined;
  if (isWanted && (await isGrpcHere())) return first;
  return chooseInterface(card, { ...options, avoid: "GRPC" });
}

/** What the agent requires and the caller does not speak would be refused with every request (A2A §4.6). */
function requireExtensions({ name, capabilities }: AgentCard, spoken: readonly string[]): void {
  const missing = (capabilities.extensions ?? []).filter(
    ({ uri, required }) => required && !spoken.includes(uri),
  );
  if (missing.length === 0) return;
  const uris = missing.map(({ uri }) => uri);
  const message = `${JSON.stringify(name)} requires extensions of whoever talks to it; if you speak them, give { extensions: ${JSON.stringify(uris)} }.`;
  throw new A2AError("EXTENSION_SUPPORT_REQUIRED", message);
}

/** Of whom credentials are for. A gRPC interface has an address, with a scheme or without. */
function originOf({ url, protocolBinding }: AgentInterface): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin;
  if (protocolBinding === "GRPC") return `https://${url.replace(/^[a-z]+:\/\//i, "")}`;
  const message = `The card's ${protocolBinding} interface has the URL ${JSON.stringify(url)}, which is none of HTTP; its card is wrong.`;
  throw new A2AError("INVALID_AGENT_RESPONSE", message);
}
