import { SlotMap } from "../data-structures/index.ts";
import { getCallerKey, type Caller } from "./caller.ts";
import { ConcurrencyLimit } from "./limits.ts";

/** What an engine holds for one caller while that has something here. */
export interface CallerState<InFlight> {
  /** The caller's agents at work. */
  readonly runLimit: ConcurrencyLimit;
  /** The caller's messages that are not durable yet, by their ids. */
  readonly inFlightMessages: SlotMap<InFlight>;
}

/** A desk for every caller who has something here; the others are cleared away before there are too many. */
export class CallerStates<InFlight> {
  readonly #runsPerCaller: number;
  readonly #maxCallers: number;
  readonly #byCaller = new Map<string, CallerState<InFlight>>();

  constructor({ runs, runsPerCaller }: { readonly runs: number; readonly runsPerCaller: number }) {
    this.#runsPerCaller = runsPerCaller;
    this.#maxCallers = 2 * runs;
  }

  getOrCreate(caller: Caller): CallerState<InFlight> {
    const key = getCallerKey(caller);
    const known = this.#byCaller.get(key);
    if (known) return known;
    if (this.#byCaller.size > this.#maxCallers) this.#evictIdle();
    const desk = {
      runLimit: new ConcurrencyLimit("agents at work for you", this.#runsPerCaller),
      inFlightMessages: new SlotMap<InFlight>(),
    };
    this.#byCaller.set(key, desk);
    return desk;
  }

  #evictIdle(): void {
    for (const [key, { runLimit: runs, inFlightMessages: inFlight }] of this.#byCaller) {
      if (runs.inUse === 0 && inFlight.size === 0) this.#byCaller.delete(key);
    }
  }
}
