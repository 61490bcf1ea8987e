import { SlotReuseMap } from "../data-structures/index.ts";
import { getCallerKey, type Caller } from "./caller.ts";
import { ConcurrencyLimit } from "./engine-limits.ts";

/** State that an engine keeps for one active caller. */
export interface CallerActivity<InFlight> {
  /** Limit on the caller's concurrent agent runs. */
  readonly runLimit: ConcurrencyLimit;
  /** The caller's uncommitted messages, keyed by message id. */
  readonly inFlightMessages: SlotReuseMap<InFlight>;
}

/**
 * Holds the state of each active caller. Idle callers are evicted when the number of callers exceeds twice
 * the limit of concurrent runs.
 */
export class CallerActivityRegistry<InFlight> {
  readonly #runsPerCaller: number;
  readonly #maxCallers: number;
  readonly #byCaller = new Map<string, CallerActivity<InFlight>>();

  constructor({ runs, runsPerCaller }: { readonly runs: number; readonly runsPerCaller: number }) {
    this.#runsPerCaller = runsPerCaller;
    this.#maxCallers = 2 * runs;
  }

  getOrCreate(caller: Caller): CallerActivity<InFlight> {
    const key = getCallerKey(caller);
    const known = this.#byCaller.get(key);
    if (known) return known;
    if (this.#byCaller.size > this.#maxCallers) this.#evictIdle();
    const state = {
      runLimit: new ConcurrencyLimit("running agents for this caller", this.#runsPerCaller),
      inFlightMessages: new SlotReuseMap<InFlight>(),
    };
    this.#byCaller.set(key, state);
    return state;
  }

  #evictIdle(): void {
    for (const [key, { runLimit, inFlightMessages }] of this.#byCaller) {
      if (runLimit.inUse === 0 && inFlightMessages.size === 0) this.#byCaller.delete(key);
    }
  }
}
