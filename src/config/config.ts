import type { Agent } from "../engine/index.ts";

/** How a project's agents are served: the options of `colloquy serve`. Paths are relative to the file that says it. */
export interface Config {
  /** Files and directories of agents, or agents by the names under which they are served. */
  agents?: readonly string[] | Readonly<Record<string, Agent>>;
  /** The next free one when it is taken; 0 for any. Default 4120. */
  port?: number;
  /** True: fail when the port is taken. */
  strictPort?: boolean;
  /** Also serve gRPC, on this port. */
  grpcPort?: number;
  /** True: also serve the agents as models of OpenAI's chat API, at `/v1`. */
  openai?: boolean;
  /** The address to listen on. Default 127.0.0.1. */
  host?: string;
  /** Where tasks live: `memory`, or `sqlite:FILE`. */
  store?: string;
  /** Where clients reach the server, when it is behind a proxy. */
  publicUrl?: string;
  /** True: everybody may come in, also from other machines. */
  allowUnauthenticated?: boolean;
  /** True: push notifications may go to this machine and its networks. */
  allowPrivateWebhooks?: boolean;
  /** Variables with a bearer token each, whose callers are named like them. */
  authTokenEnv?: readonly string[];
  /** A file of bearer tokens: a line for each, with the caller's name and the token. */
  bearerFile?: string;
  /** A file of API keys, as `colloquy auth new-key` writes them. */
  apiKeysFile?: string;
  /** Whose access tokens are accepted, with the `audience` that they are for. */
  oidcIssuer?: string;
  audience?: readonly string[];
}

/** The configuration as it is, for the types: `export default defineConfig({ … })`. */
export function defineConfig(config: Config): Config {
  return config;
}
