import { untilAborted } from "../http/abort.ts";

/**
 * An access token with its expiry time in milliseconds. A token without an expiry time is used until the
 * agent rejects it.
 */
export interface AccessToken {
  readonly value: string;
  readonly expiresAt?: number;
}

/** Caches a token until it expires. Concurrent callers share one request for the next token. */
export class TokenSource {
  readonly #fetchToken: () => Promise<AccessToken>;
  readonly #now: () => number;
  #token: AccessToken | undefined;
  #pending: Promise<AccessToken> | undefined;

  constructor(fetchToken: () => Promise<AccessToken>, now: () => number) {
    this.#fetchToken = fetchToken;
    this.#now = now;
  }

  /**
   * Returns a valid token. The signal cancels the wait of this caller only, because other callers may wait
   * for the same request.
   */
  async getToken(signal: AbortSignal | undefined): Promise<string> {
    const { value, expiresAt = Infinity } = this.#token ?? { value: "", expiresAt: 0 };
    if (this.#now() < expiresAt) return value;
    this.#pending ??= this.#renew();
    return (await untilAborted(this.#pending, signal)).value;
  }

  /** Discards a rejected token. A newer token stays cached. */
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
