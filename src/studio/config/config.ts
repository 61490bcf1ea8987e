import type { Agent } from "../../engine/index.ts";

/**
 * Project configuration of `colloquy serve`. Paths in the configuration are relative to the folder of the
 * configuration file.
 */
export interface ServeConfig {
  /** Paths of agent files and agent directories, or an object that maps agent ids to agents. */
  agents?: readonly string[] | Readonly<Record<string, Agent>>;
  /**
   * Port of the HTTP listener. If the port is in use, the server selects the next free port, unless
   * `strictPort` is set. Port 0 selects any free port. Default: 4120.
   */
  port?: number;
  /**
   * Whether the server fails to start if its port is in use. Default: true if `--port` or the variable `PORT`
   * sets the port, and otherwise false.
   */
  strictPort?: boolean;
  /** Port of the gRPC listener. If the port is not set, the server does not serve gRPC. */
  grpcPort?: number;
  /** Whether agent cards omit the gRPC interfaces, which ADK for Python rejects. Default: false. */
  grpcUnlisted?: boolean;
  /**
   * Whether the server also serves the agents as models of an OpenAI-compatible API at `/v1`. Default: false.
   */
  openai?: boolean;
  /** Whether the server also serves the console, a web page for tasks, at `/console/`. Default: false. */
  console?: boolean;
  /** File with the token of an operator, who sees the tasks of all callers in the console. Default: no operator. */
  operatorTokenFile?: string;
  /**
   * Whether users of the console may add agents of this machine and of private networks. Default: false, except on
   * loopback without `publicUrl` and without authentication.
   */
  allowPrivateAgents?: boolean;
  /** JSON file with the prices of language models, from which the console computes costs. Default: no prices. */
  prices?: string;
  /** Whether the store indexes the text of tasks, so that the console searches for words. Default: false. */
  textIndex?: boolean;
  /** Host name or IP address that the server listens on. Default: `127.0.0.1`. */
  host?: string;
  /** Task store of the server. The value is `memory`, `sqlite:` followed by a file path, or a `postgres://` URL. */
  store?: string;
  /** Number of days for which the server keeps ended tasks. 0 keeps all tasks. Default: 30. */
  keepTasks?: number;
  /**
   * Part of this server in a group of servers with the same PostgreSQL store. `web` starts no agents, and `worker`
   * accepts no A2A requests. The command `colloquy worker` ignores this option. Default: `all`.
   */
  role?: "web" | "worker" | "all";
  /**
   * Time in which a stopping server still serves requests, such as `20s`, `500ms`, or `1m`. Meanwhile, `/readyz` replies
   * with 503. Default: `0s`.
   */
  drain?: string;
  /**
   * Bearer token of `POST /tick`. Read the token from a secret store, and keep it out of the file. Default: the
   * environment variable `COLLOQUY_TICK_TOKEN`. Without a token, the endpoint does not exist.
   */
  tickToken?: string;
  /** Public base URL of a server behind a proxy. The default base URL is the origin of each request. */
  publicUrl?: string;
  /** Origins of web pages that may call the agents, such as `https://shop.example`, or `*`. Default: none. */
  corsOrigin?: readonly string[];
  /** Whether the server accepts unauthenticated requests from other machines. Default: false. */
  allowUnauthenticated?: boolean;
  /**
   * Whether the server sends push notifications to webhooks on this machine and in private networks. Default:
   * false.
   */
  allowPrivateWebhooks?: boolean;
  /** Format of the log on stderr. Default: `pretty` if stderr is a terminal, and otherwise `json`. */
  logFormat?: "json" | "pretty";
  /** Whether the log contains a line for each request. Default: false. */
  logRequests?: boolean;
  /** File to which the server appends a record of its traffic, without credentials. Default: no record. */
  record?: string;
  /** URL of a collector that receives spans and metrics over OTLP/HTTP. By default, nothing is sent. */
  otlp?: string;
  /** Port of a separate HTTP server with `GET /metrics`, without authentication. By default, there is none. */
  metricsPort?: number;
  /**
   * Names of environment variables. Each variable contains one bearer token. The name of the variable is the
   * principal of a caller with this token.
   */
  authTokenEnv?: readonly string[];
  /** Path of a file with one principal and one bearer token per line. */
  bearerFile?: string;
  /** Path of a file with stored API keys. `colloquy auth new-key` creates stored API keys. */
  apiKeysFile?: string;
  /** OpenID issuer whose access tokens the server accepts. Requires `audience`. */
  oidcIssuer?: string;
  /** Audiences that the server accepts in OpenID access tokens. */
  audience?: readonly string[];
}

/**
 * Returns `config` unchanged, and provides types in a configuration file: `export default defineConfig({ …
 * })`.
 */
export function defineConfig(config: ServeConfig): ServeConfig {
  return config;
}
