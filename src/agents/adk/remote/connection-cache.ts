import { connect, type ConnectOptions, type A2AClient } from "../../../client/index.ts";
import { ADK_EXTENSION_URI } from "../adk-event-metadata.ts";

/**
 * Maximum number of cached connections. When the cache exceeds the maximum number of connections, the cache
 * drops the oldest connection.
 */
const MAX_CACHED_CONNECTIONS = 100;

interface CachedConnection {
  readonly client: Promise<A2AClient>;
  readonly expiresAt: number;
}

/**
 * Caches client connections by URL until their agent cards expire. If an expired agent card cannot be fetched
 * again, the cache keeps the old connection.
 */
export class ConnectionCache {
  readonly #options: ConnectOptions;
  readonly #maxAgeMs: number;
  readonly #now: () => number;
  readonly #connections = new Map<string, CachedConnection>();

  constructor(options: ConnectOptions, maxAgeMs: number, now: () => number = () => performance.now()) {
    this.#options = { ...options, extensions: [ADK_EXTENSION_URI, ...(options.extensions ?? [])] };
    this.#maxAgeMs = maxAgeMs;
    this.#now = now;
  }

  getClient(url: string): Promise<A2AClient> {
    const cached = this.#connections.get(url);
    if (cached && cached.expiresAt > this.#now()) return cached.client;
    const pending = connect(url, this.#options);
    const client = cached ? pending.catch(() => cached.client) : pending;
    const connection = { client, expiresAt: this.#now() + this.#maxAgeMs };
    this.#connections.set(url, connection);
    const [oldest = url] = this.#connections.keys();
    if (this.#connections.size > MAX_CACHED_CONNECTIONS) this.#connections.delete(oldest);
    // A failed connection is removed, so the next call tries again.
    client.catch(() => {
      if (this.#connections.get(url) === connection) this.#connections.delete(url);
    });
    return client;
  }
}
