import { findCard, parseAgentUrl } from "../../client/index.ts";
import { A2AError, stripTrailingCharacters, type AgentCard } from "../../protocol/index.ts";

/** An agent to judge. */
export interface FoundAgent {
  /** URL below which the agent card is, or the URL of a card with another path or with a query. */
  readonly baseUrl: string;
  /** Interfaces of the card. Without a card that clients can read, there are none. */
  readonly interfaces: AgentCard["supportedInterfaces"];
  /** Why clients cannot read the card. */
  readonly cardProblem?: string;
}

/** Finds the card of an agent as clients do. Resolves with the problem if there is a card that clients cannot read. */
export async function findAgent(url: string, token: string | undefined): Promise<FoundAgent> {
  try {
    const found = await findCard(url, token === undefined ? {} : { auth: { bearer: token } });
    return { baseUrl: toBaseUrl(found.url), interfaces: found.card.supportedInterfaces };
  } catch (error) {
    if (!(error instanceof A2AError) || error.reason !== "INVALID_AGENT_RESPONSE") throw error;
    const { message } = error.cause instanceof A2AError ? error.cause : error;
    return { baseUrl: toBaseUrl(parseAgentUrl(url).href), interfaces: [], cardProblem: message };
  }
}

function toBaseUrl(cardUrl: string): string {
  return stripTrailingCharacters(cardUrl.replace(/\/\.well-known\/agent(-card)?\.json$/, ""), "/");
}
