import { bearer } from "../../../src/entries/auth.ts";
import { createServer } from "../../../src/server/index.ts";
import { createScenarioAgent } from "../programs/frameworks/scenario-agent.ts";

export interface ScenarioServerUrls {
  readonly url: string;
  /** URL of a server that requires the bearer token. */
  readonly securedUrl: string;
  readonly token: string;
}

const TOKEN = "a-token-of-16-characters-or-more";

/** Serves the scenario agent twice: for everybody, and for callers with a bearer token. */
export async function startScenarioServers(
  artifacts: "whole" | "pieces",
): Promise<ScenarioServerUrls & { close(): Promise<void> }> {
  const options = { store: "memory", push: { allowPrivate: true } } as const;
  const open = createServer(createScenarioAgent(artifacts), options);
  const authenticate = bearer({ tokens: { [TOKEN]: { principal: "robot" } } });
  const secured = createServer(createScenarioAgent(artifacts), { ...options, authenticate });
  const [{ url }, { url: securedUrl }] = await Promise.all([
    open.listen({ grpc: true }),
    secured.listen({ grpc: true }),
  ]);
  return {
    url,
    securedUrl,
    token: TOKEN,
    close: async () => {
      await Promise.all([open.close({ graceMs: 0 }), secured.close({ graceMs: 0 })]);
    },
  };
}
