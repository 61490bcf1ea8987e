import { connect, type ConnectOptions, type A2AClient } from "../../client/index.ts";
import { MESSAGE_CARD_EXTENSION_URI } from "../../cards/index.ts";

/** Where a role is: its URL, a connection to it, or a function that knows when it is asked. */
export type RoleTarget = string | A2AClient | (() => string | A2AClient | Promise<string | A2AClient>);

export interface RoleConnectionOptions {
  /** For roles that are known by their URL, for example credentials. A stream that is cut is resumed with 5 tries. */
  readonly connectOptions?: ConnectOptions;
}

/** The other roles, each connected to when it is first needed and kept. */
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

  /** Rejects when the role is not known, or cannot be reached; then the next who asks tries again. */
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
      throw new Error(`Nobody has said where ${role} is (known: ${known}); give it in "links"`);
    }
    const resolved = typeof target === "function" ? await target() : target;
    return typeof resolved === "string" ? await connect(resolved, this.#connectOptions) : resolved;
  }
}
