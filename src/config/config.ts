import type { Agent } from "../engine/index.ts";

/** Configuration of `colloquy serve` for a project. Paths are relative to the configuration file. */
export interface Config {
  /** Files and directories that contain agents, or agents by id. */
  agents?: readonly string[] | Readonly<Record<string, Agent>>;
  /**
   * Port to listen on. If the port is in use, the server selects the next free one. The value 0 selects any
   * free port. Default: 4120.
   */
  port?: number;
  /** Whether to fail when the port is in use. Default: false. */
  strictPort?: boolean;
  /** Port of the gRPC listener. Default: no gRPC listener. */
  grpcPort?: number;
  /** Whether to serve the agents as models of the OpenAI chat API at `/v1`. Default: false. */
  openai?: boolean;
  /** Host name or address to listen on. Default: `127.0.0.1`. */
  host?: string;
  /** Task store: `memory`, or `sqlite:` followed by a file path. */
  store?: string;
  /** Public base URL of the server behind a proxy. Default: the origin of each request. */
  publicUrl?: string;
  /** Whether to accept unauthenticated requests from other machines. Default: false. */
  allowUnauthenticated?: boolean;
  /** Whether to send push notifications to this machine and to private networks. Default: false. */
  allowPrivateWebhooks?: boolean;
  /**
   * Names of environment variables that each contain a bearer token. The variable name is the principal of
   * the caller.
   */
  authTokenEnv?: readonly string[];
  /** File with bearer tokens. Each line contains a principal and a token. */
  bearerFile?: string;
  /** File with API keys, as `colloquy auth new-key` writes it. */
  apiKeysFile?: string;
  /** OpenID issuer whose access tokens the server accepts. Requires `audience`. */
  oidcIssuer?: string;
  /** Accepted audiences of the access tokens. */
  audience?: readonly string[];
}

/**
 * Returns the configuration unchanged. Provides types in a configuration file: `export default defineConfig({
 * … })`.
 */
export function defineConfig(config: Config): Config {
  return config;
}
