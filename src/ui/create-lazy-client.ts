import type { A2AClient, ConnectOptions } from "../client/index.ts";
import { connect } from "../client/portable/index.ts";
import type { ChatClient } from "./turn-stream.ts";

/**
 * Returns a function that returns the client of an agent. The first call connects. If the connection fails, the next call
 * tries again.
 */
export function createLazyClient(
  agent: string | A2AClient,
  options?: ConnectOptions,
): () => Promise<ChatClient> {
  let client: Promise<ChatClient> | undefined;
  return () => {
    client ??= typeof agent === "string" ? connect(agent, options) : Promise.resolve(agent);
    client.catch(() => (client = undefined));
    return client;
  };
}
