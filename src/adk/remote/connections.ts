import { connect, type ConnectOptions, type Remote } from "../../client/index.ts";
import { ADK_EXTENSION } from "../metadata.ts";

/** Agents at more addresses than this are looked for anew each time. */
const MOST = 100;

interface Known {
  readonly remote: Promise<Remote>;
  readonly until: number;
}

/**
 * Connections by their URLs, each as long as its card is believed. While a card that has become old cannot be looked at
 * again, the old one holds.
 */
export class Connections {
  readonly #options: ConnectOptions;
  readonly #maxAgeMs: number;
  readonly #now: () => number;
  readonly #known = new Map<string, Known>();

  constructor(options: ConnectOptions, maxAgeMs: number, now: () => number = Date.now) {
    this.#options = { ...options, extensions: [ADK_EXTENSION, ...(options.extensions ?? [])] };
    this.#maxAgeMs = maxAgeMs;
    this.#now = now;
  }

  to(url: string): Promise<Remote> {
    const known = this.#known.get(url);
    if (known && known.until > this.#now()) return known.remote;
    const found = connect(url, this.#options);
    const remote = known ? found.catch(() => known.remote) : found;
    const made = { remote, until: this.#now() + this.#maxAgeMs };
    this.#known.set(url, made);
    const [oldest = url] = this.#known.keys();
    if (this.#known.size > MOST) this.#known.delete(oldest);
    // What failed is tried again by the next who asks.
    remote.catch(() => {
      if (this.#known.get(url) === made) this.#known.delete(url);
    });
    return remote;
  }
}
