/** Capacity and shares of a `Quota`. */
interface QuotaOptions {
  /** Total amount that all holders together can reserve. */
  readonly capacity: number;
  /**
   * Largest share of a holder, as a multiple of the amount that remains free. With the ratio 1, a single holder can
   * reserve half of the capacity, and each of two holders a third. Default: 1.
   */
  readonly ratioToFree?: number;
  /** Fixed maximum amount of a holder instead of a share. */
  readonly maxPerHolder?: number | undefined;
  /** Creates the error that `assertRoom` and `acquire` throw. */
  readonly createError?: (refusal: QuotaRefusal, holder: string) => Error;
}

interface HeldAmount {
  amount: number;
}

/** Reason why a quota refuses a reservation: nothing remains, or the holder's share is used up. */
export type QuotaRefusal = "capacity" | "share";

/**
 * Limits a resource, such as bytes in memory or agent runs, in total and by holder (E14, E20). A holder can reserve as
 * long as its total is at most a multiple of what remains free (dynamic thresholds, Choudhury and Hahne 1998). The share
 * of each holder therefore shrinks while more holders are active, and a new holder always finds free capacity. A holder
 * without reservations is refused only if the amount exceeds the free capacity.
 */
export class Quota {
  readonly #options: QuotaOptions;
  readonly #ratioToFree: number;
  readonly #reservedByHolder = new Map<string, HeldAmount>();
  /** The holder of the most recent operation, because consecutive operations often come from the same holder. */
  #recentHolder: string | undefined;
  #recentAmount: HeldAmount = { amount: 0 };
  #reserved = 0;

  constructor(options: QuotaOptions) {
    this.#options = options;
    this.#ratioToFree = options.maxPerHolder === undefined ? (options.ratioToFree ?? 1) : Infinity;
  }

  /** Amount that all holders together have reserved. */
  get reserved(): number {
    return this.#reserved;
  }

  getReservedBy(holder: string): number {
    const held = holder === this.#recentHolder ? this.#recentAmount : this.#reservedByHolder.get(holder);
    return held?.amount ?? 0;
  }

  /** Returns why the quota would refuse a reservation, or `undefined` if the quota would accept it. */
  findRefusal(holder: string, amount: number): QuotaRefusal | undefined {
    const { capacity, maxPerHolder = Infinity } = this.#options;
    const freeAfterwards = capacity - this.#reserved - amount;
    if (freeAfterwards < 0) return "capacity";
    const held = this.getReservedBy(holder);
    if (held + amount > maxPerHolder) return "share";
    return held > 0 && held + amount > this.#ratioToFree * freeAfterwards ? "share" : undefined;
  }

  /** Throws an error if the quota would refuse a reservation. A holder with `mayExceedShare` needs only free capacity. */
  assertRoom(holder: string, amount: number, mayExceedShare: boolean = false): void {
    const refusal = this.findRefusal(holder, amount);
    if (refusal === undefined || (refusal === "share" && mayExceedShare)) return;
    throw (
      this.#options.createError?.(refusal, holder) ?? new Error(`The ${refusal} of ${holder} is used up.`)
    );
  }

  /**
   * Reserves an amount and returns `undefined`, or returns the reason of the refusal. Every accepted reservation must be
   * returned with `release`.
   */
  reserve(holder: string, amount: number): QuotaRefusal | undefined {
    const refusal = this.findRefusal(holder, amount);
    if (refusal === undefined) this.reserveUnchecked(holder, amount);
    return refusal;
  }

  /** Reserves an amount that the holder must get, even beyond the capacity. */
  reserveUnchecked(holder: string, amount: number): void {
    this.#reserved += amount;
    this.#requireAmount(holder).amount += amount;
  }

  /** Reserves one unit, and returns the function that releases it, which is safe to repeat. Throws like `assertRoom`. */
  acquire(holder: string): () => void {
    this.assertRoom(holder, 1);
    this.reserveUnchecked(holder, 1);
    let isHeld = true;
    return () => {
      if (isHeld) this.release(holder, 1);
      isHeld = false;
    };
  }

  /** Returns an amount that the holder has reserved. */
  release(holder: string, amount: number): void {
    this.#reserved -= amount;
    const held = this.#requireAmount(holder);
    held.amount = Math.max(0, held.amount - amount);
  }

  /** Returns the amount of a holder, for a change. Of the amounts of 0, the quota keeps only that of `#recentHolder`. */
  #requireAmount(holder: string): HeldAmount {
    if (holder === this.#recentHolder) return this.#recentAmount;
    if (this.#recentHolder !== undefined && this.#recentAmount.amount === 0)
      this.#reservedByHolder.delete(this.#recentHolder);
    let held = this.#reservedByHolder.get(holder);
    if (!held) this.#reservedByHolder.set(holder, (held = { amount: 0 }));
    this.#recentHolder = holder;
    return (this.#recentAmount = held);
  }
}
