import { FairShareLedger } from "../../data-structures/index.ts";
import type { HttpRequest } from "../http-exchange.ts";
import { ByteAccount } from "./byte-account.ts";

/**
 * Accounts for the bytes of request bodies and responses that the server holds in memory, by holder. A holder is an
 * authenticated caller, or the remote address of a request without an authenticated caller. The share of each holder
 * shrinks while more holders are active (`FairShareLedger`).
 */
export class ByteLedger {
  /** Number of bytes that all holders together can reserve, the option `limits.bufferedBytes`. */
  readonly capacity: number;
  readonly #shares: FairShareLedger;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.#shares = new FairShareLedger({ capacity });
  }

  /** Number of bytes that all holders together have reserved. */
  get reserved(): number {
    return this.#shares.reserved;
  }

  openAccount(request: Pick<HttpRequest, "remoteAddress">): ByteAccount {
    return new ByteAccount(this, request);
  }

  /** Reserves bytes for a holder and returns true, or returns false if the holder's share is used up. */
  tryReserve(holder: string, bytes: number): boolean {
    return this.#shares.reserve(holder, bytes) === undefined;
  }

  release(holder: string, bytes: number): void {
    this.#shares.release(holder, bytes);
  }
}
