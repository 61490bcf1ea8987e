/** A range of consecutive sequence numbers, which includes both ends. */
export interface SequenceNumberRange {
  readonly from: number;
  readonly to: number;
}

/**
 * The sequence numbers that were seen, as disjoint ranges in ascending order. Adding the next number takes constant
 * time, so that the set is suitable for live streams.
 */
export class SequenceNumberSet {
  readonly #ranges: { from: number; to: number }[] = [];

  /** Adds a number, and returns false if the set already contains the number. */
  add(number: number): boolean {
    const at = this.#findLastRangeStartingAtOrBefore(number);
    const range = this.#ranges[at];
    if (range && number <= range.to) return false;
    const next = this.#ranges[at + 1];
    if (range?.to === number - 1) {
      range.to = number;
      if (next?.from === number + 1) {
        range.to = next.to;
        this.#ranges.splice(at + 1, 1);
      }
    } else if (next?.from === number + 1) next.from = number;
    else this.#ranges.splice(at + 1, 0, { from: number, to: number });
    return true;
  }

  has(number: number): boolean {
    const range = this.#ranges[this.#findLastRangeStartingAtOrBefore(number)];
    return range !== undefined && number <= range.to;
  }

  get highest(): number {
    return this.#ranges.at(-1)?.to ?? 0;
  }

  /** Returns the ranges that are missing between the lowest and the highest number. */
  listGaps(): SequenceNumberRange[] {
    return this.#ranges.slice(1).map(({ from }, at) => ({
      from: (this.#ranges[at]?.to ?? 0) + 1,
      to: from - 1,
    }));
  }

  /** Returns whether a number between `low` and `high` is missing. */
  hasGapBetween(low: number, high: number): boolean {
    return (
      high > low && this.#findLastRangeStartingAtOrBefore(low) !== this.#findLastRangeStartingAtOrBefore(high)
    );
  }

  #findLastRangeStartingAtOrBefore(number: number): number {
    const last = this.#ranges.length - 1;
    if (last < 0 || (this.#ranges[last]?.from ?? 0) <= number) return last;
    let [low, high] = [-1, last];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((this.#ranges[middle]?.from ?? 0) <= number) low = middle;
      else high = middle;
    }
    return low;
  }
}
