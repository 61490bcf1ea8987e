import { untilAborted } from "../http/abort.ts";

/** A token, and until when it may be used; without an end, until it is refused. */
export interface AccessToken {
  readonly value: string;
  readonly expiresAt?: number;
}

/** Keeps a token until it expires, and gets the next one once for all who wait for it. */
export class TokenSource {
  readonly #fetchToken: () => Promise<AccessToken>;
  readonly #now: () => number;
  #token: AccessToken | undefined;
  #pending: Promise<AccessToken> | undefined;

  constructor(fetchToken: () => Promise<AccessToken>, now: () => number) {
    this.#fetchToken = fetchToken;
    this.#now = now;
  }

  /** The signal ends the waiting of this one caller, not the request that others may wait for, too. */
  async getToken(signal: AbortSignal | undefined): Promise<string> {
    const { value, expiresAt = Infinity } = this.#token ?? { value: "", expiresAt: 0 };
    if (this.#now() < expiresAt) return value;
    this.#pending ??= this.#renew();
    return (await untilAborted(this.#pending, signal)).value;
  }

  /** To be told of a token that was refused; one that has come since stays. */
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
