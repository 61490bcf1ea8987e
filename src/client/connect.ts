import { type ConnectOptions, createTransportOptions, createCardFetchOptions } from "./find-card.ts";
import { A2AError, type AgentCard, type AgentInterface } from "../protocol/index.ts";
import { createAuthorizer } from "./auth/authorizer.ts";
import { AgentCardCache } from "./card/agent-card-cache.ts";
import { chooseInterface, getProtocolVersion } from "./choose-interface.ts";
import { findClearTextError, withHeadersForbidden } from "./clear-text.ts";
import { discoverCard } from "./card/discover-card.ts";
import { isGrpcAvailable } from "./transport/grpc-transport.ts";
import { withAuthErrorDetails } from "./auth-error-details.ts";
import { withCloseDelay } from "./stream/close-delay.ts";
import { createA2AClient, type A2AClient } from "./a2a-client.ts";
import { createTransport } from "./transport/create-transport.ts";

/** Finds an agent by the URL of its host, its card or itself, and speaks with it as its card says. */
export async function connect(url: string, options: ConnectOptions = {}): Promise<A2AClient> {
  const { auth, extensions = [], reconnect = {}, retry = {}, version = "1.0" } = options;
  const http = createTransportOptions(options);
  const source = createCardFetchOptions(http, options);
  const found = await discoverCard(source, url, options.signal);
  const via = await chooseAvailableInterface(found.card, options);
  assertRequiredExtensions(found.card, extensions);
  const origin = getInterfaceOrigin(via);
  const refusal = options.allowClearText ? undefined : findClearTextError(via, found.url, options.grpc);
  if (refusal && (auth || Object.keys(http.headers).length > 0)) throw refusal;
  const authorizer = auth && {
    authorizer: createAuthorizer(found.card, { auth, agentOrigin: origin, fetch: http.fetch, now: Date.now }),
  };
  const transport = await createTransport(via, {
    ...http,
    ...authorizer,
    version: getProtocolVersion(via) ?? version,
  });
  const guarded = refusal ? withHeadersForbidden(transport, refusal) : transport;
  const patient = transport.version === "0.3" ? withCloseDelay(guarded, reconnect) : guarded;
  return createA2AClient({
    cardCache: new AgentCardCache(source, found),
    agentInterface: via,
    transport: auth ? patient : withAuthErrorDetails(patient, found.card),
    reconnect,
    retry,
  });
}

/** The interface that is spoken to; whether gRPC can be is looked at only where it would be. */
async function chooseAvailableInterface(card: AgentCard, options: ConnectOptions): Promise<AgentInterface> {
  const first = chooseInterface(card, options);
  const isAsked = options.binding !== undefined || options.preferredBindings?.includes("GRPC") === true;
  if (first.protocolBinding !== "GRPC" || isAsked) return first;
  const isWanted = options.fetch === undefined || options.grpc !== undefined;
  if (isWanted && (await isGrpcAvailable())) return first;
  return chooseInterface(card, { ...options, avoidBinding: "GRPC" });
}

/** What the agent requires and the caller does not speak would be refused with every request (A2A §4.6). */
function assertRequiredExtensions({ name, capabilities }: AgentCard, spoken: readonly string[]): void {
  const missing = (capabilities.extensions ?? []).filter(
    ({ uri, required }) => required && !spoken.includes(uri),
  );
  if (missing.length === 0) return;
  const uris = missing.map(({ uri }) => uri);
  const message = `${JSON.stringify(name)} requires extensions of whoever talks to it; if you speak them, give { extensions: ${JSON.stringify(uris)} }.`;
  throw new A2AError("EXTENSION_SUPPORT_REQUIRED", message);
}

/** Of whom credentials are for. A gRPC interface has an address, with a scheme or without. */
function getInterfaceOrigin({ url, protocolBinding }: AgentInterface): string {
  if (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol)) return new URL(url).origin;
  if (protocolBinding === "GRPC") return `https://${url.replace(/^[a-z]+:\/\//i, "")}`;
  const message = `The card's ${protocolBinding} interface has the URL ${JSON.stringify(url)}, which is none of HTTP; its card is wrong.`;
  throw new A2AError("INVALID_AGENT_RESPONSE", message);
}
