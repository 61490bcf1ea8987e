import { connect, type ConnectOptions, type Remote } from "../../client/index.ts";
import { CARD_EXTENSION } from "../../cards/index.ts";

/** Where a role is: its URL, a connection to it, or a function that knows when it is asked. */
export type Where = string | Remote | (() => string | Remote | Promise<string | Remote>);

export interface LinkOptions {
  /** For roles that are known by their URL, for example credentials. A stream that is cut is resumed with 5 tries. */
  readonly connect?: ConnectOptions;
}

/** The other roles, each connected to when it is first needed and kept. */
export class Links {
  readonly #places: ReadonlyMap<string, Where>;
  readonly #options: ConnectOptions;
  readonly #remotes = new Map<string, Promise<Remote>>();

  constructor(places: Readonly<Record<string, Where>>, { connect: options = {} }: LinkOptions) {
    this.#places = new Map(Object.entries(places));
    const extensions = new Set([...(options.extensions ?? []), CARD_EXTENSION]);
    this.#options = { reconnect: { tries: 5 }, ...options, extensions: [...extensions] };
  }

  /** Rejects when the role is not known, or cannot be reached; then the next who asks tries again. */
  to(role: string): Promise<Remote> {
    const known = this.#remotes.get(role);
    if (known) return known;
    const remote = this.#connect(role);
    this.#remotes.set(role, remote);
    remote.catch(() => this.#remotes.delete(role));
    return remote;
  }

  async #connect(role: string): Promise<Remote> {
    const place = this.#places.get(role);
    if (place === undefined) {
      const known = [...this.#places.keys()].join(", ") || "none";
      throw new Error(`Nobody has said where ${role} is (known: ${known}); give it in "links"`);
    }
    const where = typeof place === "function" ? await place() : place;
    return typeof where === "string" ? await connect(where, this.#options) : where;
  }
}
