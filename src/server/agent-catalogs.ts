import { createJsonReply, type HttpReply } from "./http-exchange.ts";
import { getAgentPath, type ServedAgent } from "./served-agent.ts";

/** Path of an agent card below the URL of its agent (A2A §8.2). */
export const CARD_PATH = "/.well-known/agent-card.json";
const CARD_TYPE = "application/a2a-agent-card+json";
const LINKSET_TYPE = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`;

/** The agents of a server, and the base URL of their URLs. */
interface ListedAgents {
  readonly agents: ReadonlyMap<string, ServedAgent>;
  readonly baseUrl: string;
}

interface ListedAgent extends Pick<ServedAgent, "id" | "cardPublisher"> {
  readonly url: string;
  readonly cardUrl: string;
}

function listAgents({ agents, baseUrl }: ListedAgents): ListedAgent[] {
  return [...agents.values()].map(({ id, cardPublisher }) => {
    const url = baseUrl + getAgentPath(id);
    return { id, cardPublisher, url, cardUrl: url + CARD_PATH };
  });
}

/** Renders a list of the agents of a server. */
export type AgentListRenderer = (listed: ListedAgents) => HttpReply | Promise<HttpReply>;

/** Lists the id, name, description, URL, and card URL of every agent. */
export async function renderAgentList(listed: ListedAgents): Promise<HttpReply> {
  const agents = await Promise.all(
    listAgents(listed).map(async ({ id, cardPublisher, url, cardUrl }) => {
      const { name, description } = await cardPublisher.loadDescription();
      return { id, name, description, url, cardUrl };
    }),
  );
  return createJsonReply(200, JSON.stringify({ agents }));
}

/**
 * Lists the agent cards in the format of AI Catalog 0.9 (https://ai-catalog.io/spec). The entries have no names, because
 * the specification leaves names and descriptions to the agent cards.
 */
export function renderAiCatalog(listed: ListedAgents): HttpReply {
  const entries = listAgents(listed).map(({ id, cardUrl }) => ({
    identifier: createEntryIdentifier(id, cardUrl),
    type: CARD_TYPE,
    url: cardUrl,
  }));
  const catalog = { specVersion: "0.9", entries };
  return createJsonReply(200, JSON.stringify(catalog), { "content-type": "application/ai-catalog+json" });
}

/** Returns an AI resource name for an agent of a domain. An agent of an IP address or of this machine has no such name. */
function createEntryIdentifier(id: string, cardUrl: string): string {
  const { hostname } = new URL(cardUrl);
  const isDomain = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z][a-z0-9-]*$/i.test(hostname);
  return isDomain ? `urn:air:${hostname}:${encodeURIComponent(id)}:a2a` : cardUrl;
}

/** Lists the agents as APIs whose descriptions are the agent cards (RFC 9727). */
export function renderApiCatalog(listed: ListedAgents): HttpReply {
  const linkset = listAgents(listed).map(({ url, cardUrl }) => ({
    anchor: url,
    "service-desc": [{ href: cardUrl, type: CARD_TYPE }],
  }));
  return createJsonReply(200, JSON.stringify({ linkset }), {
    "content-type": LINKSET_TYPE,
    link: `<${listed.baseUrl}/.well-known/api-catalog>; rel="api-catalog"`,
  });
}
