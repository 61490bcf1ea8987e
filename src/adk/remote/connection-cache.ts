import { connect, type ConnectOptions, type A2AClient } from "../../client/index.ts";
import { ADK_EXTENSION_URI } from "../metadata.ts";

/** Agents at more addresses than this are looked for anew each time. */
const MAX_CONNECTIONS = 100;

interface CachedConnection {
  readonly client: Promise<A2AClient>;
  readonly expiresAt: number;
}

/**
 * Connections by their URLs, each as long as its card is believed. While a card that has become old cannot be looked at
 * again, the old one holds.
 */
export class ConnectionCache {
  readonly #options: ConnectOptions;
  readonly #maxAgeMs: number;
  readonly #now: () => number;
  readonly #connections = new Map<string, CachedConnection>();

  constructor(options: ConnectOptions, maxAgeMs: number, now: () => number = Date.now) {
    this.#options = { ...options, extensions: [ADK_EXTENSION_URI, ...(options.extensions ?? [])] };
    this.#maxAgeMs = maxAgeMs;
    this.#now = now;
  }

  getClient(url: string): Promise<A2AClient> {
    const known = this.#connections.get(url);
    if (known && known.expiresAt > this.#now()) return known.client;
    const found = connect(url, this.#options);
    const remote = known ? found.catch(() => known.client) : found;
    const made = { client: remote, expiresAt: this.#now() + this.#maxAgeMs };
    this.#connections.set(url, made);
    const [oldest = url] = this.#connections.keys();
    if (this.#connections.size > MAX_CONNECTIONS) this.#connections.delete(oldest);
    // What failed is tried again by the next who asks.
    remote.catch(() => {
      if (this.#connections.get(url) === made) this.#connections.delete(url);
    });
    return remote;
  }
}
