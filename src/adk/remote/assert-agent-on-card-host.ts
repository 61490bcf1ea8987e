import type { A2AClient } from "../../client/index.ts";
import { A2AError } from "../../protocol/index.ts";

/**
 * Throws if the agent URL in an agent card has a different host than the configured URL. Without this check,
 * an agent card could redirect user credentials to any host.
 */
export function assertAgentOnCardHost({
  cardUrl,
  agentInterface,
}: Pick<A2AClient, "cardUrl" | "agentInterface">): void {
  const [from, to] = [parseHost(cardUrl), parseHost(agentInterface.url)];
  if (from === to) return;
  throw new A2AError(
    "INVALID_AGENT_RESPONSE",
    `The agent card at ${from} refers to an agent at ${to}, but "headers" are only sent to ${from}. ` +
      "If you trust the card, pass a connection: { agent: await connect(…) }.",
  );
}

/** Returns the host of a URL. A gRPC address has no scheme, and all loopback names count as one host. */
function parseHost(url: string): string {
  const { hostname } = new URL(url.replace(/^([a-z][a-z0-9+.-]*:\/\/)?/i, "http://"));
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(hostname) ? "this machine" : hostname;
}
