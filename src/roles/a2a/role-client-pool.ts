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
    places: Readonly<Record<string, RoleTarget>>,
    { connectOptions: options = {} }: RoleConnectionOptions,
  ) {
    this.#targets = new Map(Object.entries(places));
    const extensions = new Set([...(options.extensions ?? []), MESSAGE_CARD_EXTENSION_URI]);
    this.#connectOptions = { reconnect: { maxRetries: 5 }, ...options, extensions: [...extensions] };
  }

  /** Rejects when the role is not known, or cannot be reached; then the next who asks tries again. */
  getClient(role: string): Promise<A2AClient> {
    const known = this.#clients.get(role);
    if (known) return known;
    const remote = this.#connect(role);
    this.#clients.set(role, remote);
    remote.catch(() => this.#clients.delete(role));
    return remote;
  }

  async #connect(role: string): Promise<A2AClient> {
    const place = this.#targets.get(role);
    if (place === undefined) {
      const known = [...this.#targets.keys()].join(", ") || "none";
      throw new Error(`Nobody has said where ${role} is (known: ${known}); give it in "links"`);
    }
    const where = typeof place === "function" ? await place() : place;
    return typeof where === "string" ? await connect(where, this.#connectOptions) : where;
  }
}
