import type { FairShareLedger, FairShareRefusal } from "../data-structures/index.ts";

/**
 * Accounts for response messages that clients have not read. A message that several calls send is one buffer in memory,
 * and counts once, for the holder of the first of these calls.
 */
export class ResponseByteAccount {
  readonly #ledger: FairShareLedger;
  readonly #unread = new Map<Uint8Array, { readonly holder: string; calls: number }>();

  constructor(ledger: FairShareLedger) {
    this.#ledger = ledger;
  }

  /** Adds a message that a call sends. Every accepted message must be returned with `release`. */
  reserve(holder: string, message: Uint8Array): FairShareRefusal | undefined {
    const shared = this.#unread.get(message);
    if (shared) {
      shared.calls++;
      return undefined;
    }
    const refusal = this.#ledger.reserve(holder, message.length);
    if (refusal === undefined) this.#unread.set(message, { holder, calls: 1 });
    return refusal;
  }

  /** Removes a message that a call no longer sends. */
  release(message: Uint8Array): void {
    const entry = this.#unread.get(message);
    if (!entry || --entry.calls > 0) return;
    this.#unread.delete(message);
    this.#ledger.release(entry.holder, message.length);
  }
}
