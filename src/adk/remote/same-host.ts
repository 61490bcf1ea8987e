import type { A2AClient } from "../../client/index.ts";
import { A2AError } from "../../protocol/index.ts";

/**
 * Refuses an agent whose card names another host than its own: the credentials of users are for whom the URL names, and
 * whoever writes a card could have them sent anywhere.
 */
export function assertSameHost({
  cardUrl,
  agentInterface: via,
}: Pick<A2AClient, "cardUrl" | "agentInterface">): void {
  const [from, to] = [parseHost(cardUrl), parseHost(via.url)];
  if (from === to) return;
  const text = `The card at ${from} names an agent at ${to}, and "headers" are for ${from} only; if you trust it, give the agent as a connection: { agent: await connect(…) }.`;
  throw new A2AError("INVALID_AGENT_RESPONSE", text);
}

/** An address of gRPC has no scheme; all names of this machine are one. */
function parseHost(url: string): string {
  const { hostname } = new URL(url.replace(/^([a-z][a-z0-9+.-]*:\/\/)?/i, "http://"));
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname) ? "this machine" : hostname;
}
