import { connect, type ConnectOptions, type A2AClient } from "../../../client/index.ts";
import { MESSAGE_CARD_EXTENSION_URI } from "../../index.ts";

/** Location of a role: a URL, a client, or a function that returns a URL or a client. */
export type RoleTarget = string | A2AClient | (() => string | A2AClient | Promise<string | A2AClient>);

/** Connection options for clients of other roles. */
export interface RoleConnectionOptions {
  /**
   * Options for connections to roles with a configured URL, for example credentials. By default, clients
   * resume an interrupted stream with up to 5 retries.
   */
  readonly connectOptions?: ConnectOptions;
}

/** Pool of clients for other roles. The pool connects each client on first use and then reuses it. */
export class RoleClientPool {
  readonly #targets: ReadonlyMap<string, RoleTarget>;
  readonly #connectOptions: ConnectOptions;
  readonly #clients = new Map<string, Promise<A2AClient>>();

  constructor(
    roleTargets: Readonly<Record<string, RoleTarget>>,
    { connectOptions = {} }: RoleConnectionOptions,
  ) {
    this.#targets = new Map(Object.entries(roleTargets));
    const extensions = new Set([...(connectOptions.extensions ?? []), MESSAGE_CARD_EXTENSION_URI]);
    this.#connectOptions = { reconnect: { maxRetries: 5 }, ...connectOptions, extensions: [...extensions] };
  }

  /**
   * Returns the client for a role. Rejects if the role is unknown or unreachable. After a failed connection,
   * the next call connects again.
   */
  getClient(role: string): Promise<A2AClient> {
    const known = this.#clients.get(role);
    if (known) return known;
    const client = this.#connect(role);
    this.#clients.set(role, client);
    client.catch(() => this.#clients.delete(role));
    return client;
  }

  async #connect(role: string): Promise<A2AClient> {
    const target = this.#targets.get(role);
    if (target === undefined) {
      const known = [...this.#targets.keys()].join(", ") || "none";
      throw new Error(
        `The role ${role} has no location (known roles: ${known}). Add its URL to "roleTargets".`,
      );
    }
    const resolved = typeof target === "function" ? await target() : target;
    return typeof resolved === "string" ? await connect(resolved, this.#connectOptions) : resolved;
  }
}
