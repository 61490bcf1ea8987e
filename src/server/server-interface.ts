import type { IncomingMessage, ServerResponse } from "node:http";
import type { Agent } from "../engine/index.ts";
import { defineOptionNames } from "../base/usage-checks/index.ts";
import type { DueWorkOptions, DueWorkReport } from "./due-work.ts";
import type { GrpcOptions } from "./bindings/grpc.ts";
import type { StoreMaintenance } from "./maintenance/store-maintenance.ts";
import type { ServerStore } from "./resolve-store.ts";

/** Options for `Server.listen`. */
export interface ListenOptions {
  /** Port that the server listens on. Port 0, the default, selects any free port. */
  readonly port?: number;
  /**
   * Host name or IP address that the server listens on. The default host, `127.0.0.1`, accepts connections
   * only from this machine.
   */
  readonly host?: string;
  /**
   * Options for serving gRPC on a separate port, or `true` for the default options. The gRPC listener
   * requires the packages `@grpc/grpc-js` and `@bufbuild/protobuf`. Default: false.
   */
  readonly grpc?: boolean | GrpcOptions;
}

/** Options for `Server.close`. */
export interface CloseOptions {
  /** Maximum time in milliseconds that aborted agents have to finish. Default: 2,000. */
  readonly graceMs?: number;
  /**
   * Time in milliseconds for which the server continues to serve requests before it stops. Meanwhile, `GET /readyz`
   * replies with 503, so that a load balancer sends new requests to other servers. If several servers share the store,
   * the other servers continue the turns of agents whose `afterRestart` is `restart` or `resume`, and start new turns.
   * Other running turns have this time to end. Default: 0.
   */
  readonly drainMs?: number;
}

/** The option names of `Server.listen`, separated by spaces. */
export const LISTEN_OPTION_NAMES = "grpc host port";

const assertKnownGrpcOptions = defineOptionNames<GrpcOptions>()(
  '"grpc" of listen',
  "calls connections host listedInCard port publicAddress tls",
);
export const assertKnownListenOptions: (options: ListenOptions) => void = defineOptionNames<ListenOptions>({
  grpc(grpc: boolean | GrpcOptions) {
    if (typeof grpc === "object") assertKnownGrpcOptions(grpc);
  },
})("listen", LISTEN_OPTION_NAMES);

export const assertKnownCloseOptions: (options: CloseOptions | undefined) => void =
  defineOptionNames<CloseOptions>()("close", "drainMs graceMs");

/** The addresses that a server listens on. */
export interface ServerAddress {
  /** The `publicUrl` of the server. Default: the URL of the listener, with the base path. */
  readonly url: string;
  /** Host that the server listens on. */
  readonly host: string;
  /** Port of the listener, also if `listen` received port 0. */
  readonly port: number;
  /** The address of the gRPC listener, which is absent if the server does not serve gRPC. */
  readonly grpc?: { readonly host: string; readonly port: number };
  /** The address of the separate metrics server, which is absent without the option `metrics.port`. */
  readonly metrics?: { readonly host: string; readonly port: number };
  /** The agents, each with its id, its URL, and the URL of its agent card. */
  readonly agents: readonly { readonly id: string; readonly url: string; readonly cardUrl: string }[];
}

/** A server that serves one or more agents over A2A. */
export interface Server {
  /**
   * Request handler for web frameworks and runtimes that use `Request` and `Response`, such as Hono, Next,
   * Deno, Bun, and workers. The first request opens the task store. The optional second argument identifies the
   * client by its IP address: the argument that Deno and Bun pass to a handler, or `{ remoteAddress }`. Without the
   * argument, all clients share the limits of one address. If the argument has a function `waitUntil`, as on Vercel and
   * Cloudflare, the server passes a promise to it that resolves when no agent is running. The platform then keeps the
   * function running until its agents end.
   */
  readonly fetch: (request: Request, runtimeInfo?: unknown) => Promise<Response>;
  /**
   * Request handler for `node:http` and for web frameworks that use `node:http`, such as Express and Fastify.
   * The first request opens the task store.
   */
  readonly listener: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
  /**
   * Opens the task store, recovers tasks that an earlier process left unfinished, and starts the HTTP
   * listener. Rejects if the description of an agent is not a valid agent card.
   */
  listen(options?: ListenOptions): Promise<ServerAddress>;
  /**
   * Replaces the served agents, without closing the server. Running turns finish with the earlier agents, and new turns
   * use the new agents. An agent with a new id gets a new URL, and an agent that is missing in `agents` accepts no more
   * requests. Rejects without a change if the description of an agent is not a valid agent card.
   */
  replaceAgents(agents: Agent | Readonly<Record<string, Agent>>): Promise<void>;
  /** Maintenance of the task store, such as the erasure of tasks. The first call opens the task store. */
  readonly maintenance: StoreMaintenance;
  /**
   * Starts the turns and push notifications that wait in the store, and resolves when they have ended or when the time
   * limit has passed. The first call opens the task store. A scheduler can call this function in a process that exits
   * afterwards, such as a cron job or a serverless function.
   */
  processDueWork(options?: DueWorkOptions): Promise<DueWorkReport>;
  /** The task store of the server, which the rest of the application can also use. */
  readonly store: ServerStore;
  /** Aborts running agents, ends event streams, stops listening, and closes the task store. */
  close(options?: CloseOptions): Promise<void>;
}
