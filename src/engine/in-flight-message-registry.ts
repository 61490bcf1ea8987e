import { SlotReuseMap } from "../data-structures/index.ts";
import { getCallerKey, type Caller } from "./caller.ts";

/**
 * Holds the uncommitted messages of each active caller, keyed by message id. Callers without messages are evicted when
 * the number of callers exceeds a maximum.
 */
export class InFlightMessageRegistry<InFlight> {
  readonly #maxCallers: number;
  readonly #byCaller = new Map<string, SlotReuseMap<InFlight>>();

  constructor(maxCallers: number) {
    this.#maxCallers = maxCallers;
  }

  getOrCreate(caller: Pick<Caller, "tenant" | "principal">): SlotReuseMap<InFlight> {
    const key = getCallerKey(caller);
    const known = this.#byCaller.get(key);
    if (known) return known;
    if (this.#byCaller.size > this.#maxCallers) this.#evictIdle();
    const inFlightMessages = new SlotReuseMap<InFlight>();
    this.#byCaller.set(key, inFlightMessages);
    return inFlightMessages;
  }

  #evictIdle(): void {
    for (const [key, { size }] of this.#byCaller) if (size === 0) this.#byCaller.delete(key);
  }
}
