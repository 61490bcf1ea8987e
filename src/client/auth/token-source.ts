import { untilAborted } from "../http/abortable-waits.ts";

/**
 * An access token with its expiry time in milliseconds of the monotonic clock. The client uses a token without an expiry
 * time until the agent rejects the token.
 */
export interface AccessToken {
  readonly value: string;
  readonly expiresAt?: number;
}

/** Caches an access token until the token expires. Concurrent callers share one request for a new token. */
export class TokenSource {
  readonly #fetchToken: () => Promise<AccessToken>;
  readonly #monotonicNow: () => number;
  #token: AccessToken | undefined;
  #pending: Promise<AccessToken> | undefined;

  constructor(fetchToken: () => Promise<AccessToken>, monotonicNow: () => number) {
    this.#fetchToken = fetchToken;
    this.#monotonicNow = monotonicNow;
  }

  /**
   * Returns a valid access token. If the signal of a caller aborts, only that caller stops waiting. The token
   * request continues, because other callers may be waiting for the token.
   */
  async getToken(signal: AbortSignal | undefined): Promise<string> {
    const { value, expiresAt = Infinity } = this.#token ?? { value: "", expiresAt: 0 };
    if (this.#monotonicNow() < expiresAt) return value;
    this.#pending ??= this.#renew();
    return (await untilAborted(this.#pending, signal)).value;
  }

  /**
   * Discards an access token that the agent has rejected, unless the cache already contains a newer token.
   */
  invalidate(token: string | undefined): void {
    if (this.#token?.value === token) this.#token = undefined;
  }

  async #renew(): Promise<AccessToken> {
    try {
      this.#token = await this.#fetchToken();
      return this.#token;
    } finally {
      this.#pending = undefined;
    }
  }
}
