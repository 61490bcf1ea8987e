import { type ConnectOptions, httpOf, sourceOf } from "./find-card.ts";
import { A2AError, type AgentCard, type AgentInterface } from "../protocol/index.ts";
import { createAuthorizer } from "./auth/authorizer.ts";
import { CardHolder } from "./card/card-holder.ts";
import { chooseInterface, versionOf } from "./choose-interface.ts";
import { clearTextRefusal, withoutHeaders } from "./clear-text.ts";
import { discover } from "./card/discover.ts";
import { isGrpcHere } from "./transport/grpc-transport.ts";
import { explaining } from "./explain.ts";
import { lingering } from "./stream/linger.ts";
import { remote, type Remote } from "./remote.ts";
import { transportFor } from "./transport/transport-for.ts";

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
