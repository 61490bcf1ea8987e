import type { FairShareLedger, FairShareRefusal } from "./fair-share-ledger.ts";

/** An amount that a holder has reserved in a ledger. The reservation can change its holder and its amount. */
export class FairShareReservation {
  readonly #ledger: FairShareLedger;
  #holder = "";
  #amount = 0;

  constructor(ledger: FairShareLedger) {
    this.#ledger = ledger;
  }

  /** Returns the earlier amount, and reserves another one. After a refusal, nothing is reserved. */
  replace(holder: string, amount: number): FairShareRefusal | undefined {
    this.release();
    const refusal = this.#ledger.reserve(holder, amount);
    if (refusal === undefined) {
      this.#holder = holder;
      this.#amount = amount;
    }
    return refusal;
  }

  /** Returns the amount to the ledger. Later calls have no effect. */
  release(): void {
    if (this.#amount > 0) this.#ledger.release(this.#holder, this.#amount);
    this.#amount = 0;
  }
}
