import { FairShareLedger, LruCache } from "../../data-structures/index.ts";
import type { HttpRequest } from "../http-exchange.ts";
import { ByteAccount } from "./byte-account.ts";

/** Number of large tasks whose sizes the ledger remembers. */
const MAX_KNOWN_TASKS = 1000;

/**
 * Accounts for the bytes of request bodies and responses that the server holds in memory, by holder. A holder is an
 * authenticated caller, or the remote address of a request without an authenticated caller. The share of each holder
 * shrinks while more holders are active (`FairShareLedger`).
 */
export class ByteLedger {
  /** Number of bytes that all holders together can reserve, the option `limits.bufferedBytes`. */
  readonly capacity: number;
  readonly #shares: FairShareLedger;
  readonly #knownTaskSizes = new LruCache<number>(MAX_KNOWN_TASKS);

  constructor(capacity: number) {
    this.capacity = capacity;
    // A single holder gets a fifth. Until the next garbage collection, an encoded text needs about three times its size.
    this.#shares = new FairShareLedger({ capacity, ratioToFree: 1 / 4 });
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

  /** Reserves bytes that the server already holds, even beyond the holder's share. */
  reserveUnchecked(holder: string, bytes: number): void {
    this.#shares.reserveUnchecked(holder, bytes);
  }

  release(holder: string, bytes: number): void {
    this.#shares.release(holder, bytes);
  }

  /** Returns whether `tryReserve` would succeed for a task that the holder has read before. */
  hasRoomForKnownTask(holder: string, taskId: string): boolean {
    const size = this.#knownTaskSizes.get(`${holder} ${taskId}`);
    return size === undefined || this.#shares.findRefusal(holder, size) === undefined;
  }

  /**
   * Remembers the size of a response that contains a large task, so that the server can refuse the next request for the
   * task before it loads the task. The smallest size counts, because a request can leave out the history.
   */
  rememberTaskSize(holder: string, taskId: string, size: number): void {
    const key = `${holder} ${taskId}`;
    this.#knownTaskSizes.set(key, Math.min(size, this.#knownTaskSizes.get(key) ?? Infinity));
  }
}
