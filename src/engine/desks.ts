import { SlotMap } from "../base/index.ts";
import { callerKey, type Caller } from "./caller.ts";
import { Places } from "./limits.ts";

/** What an engine holds for one caller while that has something here. */
export interface Desk<InFlight> {
  /** The caller's agents at work. */
  readonly runs: Places;
  /** The caller's messages that are not durable yet, by their ids. */
  readonly inFlight: SlotMap<InFlight>;
}

/** A desk for every caller who has something here; the others are cleared away before there are too many. */
export class Desks<InFlight> {
  readonly #runsPerCaller: number;
  readonly #most: number;
  readonly #byCaller = new Map<string, Desk<InFlight>>();

  constructor({ runs, runsPerCaller }: { readonly runs: number; readonly runsPerCaller: number }) {
    this.#runsPerCaller = runsPerCaller;
    this.#most = 2 * runs;
  }

  of(caller: Caller): Desk<InFlight> {
    const key = callerKey(caller);
    const known = this.#byCaller.get(key);
    if (known) return known;
    if (this.#byCaller.size > this.#most) this.#clear();
    const desk = {
      runs: new Places("agents at work for you", this.#runsPerCaller),
      inFlight: new SlotMap<InFlight>(),
    };
    this.#byCaller.set(key, desk);
    return desk;
  }

  #clear(): void {
    for (const [key, { runs, inFlight }] of this.#byCaller) {
      if (runs.taken === 0 && inFlight.size === 0) this.#byCaller.delete(key);
    }
  }
}
