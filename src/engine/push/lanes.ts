interface Lane<T> {
  readonly waiting: T[];
  running: number;
  /** It stands among the lanes whose first may go when there is a place. */
  open: boolean;
}

/**
 * Who goes next when only so many may go at once: lanes take turns, and none has more than its share under way. With a
 * lane for each host a slow one, or one with many webhooks, holds up only itself.
 */
export class Lanes<T> {
  readonly #atOnce: number;
  readonly #perLane: number;
  readonly #lanes = new Map<string, Lane<T>>();
  #open: string[] = [];
  #running = 0;

  constructor({ atOnce, perLane }: { readonly atOnce: number; readonly perLane: number }) {
    this.#atOnce = atOnce;
    this.#perLane = perLane;
  }

  /** Puts somebody at the end of a lane. */
  add(name: string, who: T): void {
    let lane = this.#lanes.get(name);
    if (!lane) this.#lanes.set(name, (lane = { waiting: [], running: 0, open: false }));
    lane.waiting.push(who);
    this.#opened(name, lane);
  }

  /** Who may go now, if anybody; has a place from now on, to be given back with `leave`. */
  next(): T | undefined {
    if (this.#running >= this.#atOnce) return undefined;
    const name = this.#open.shift();
    const lane = name === undefined ? undefined : this.#lanes.get(name);
    if (name === undefined || !lane) return undefined;
    lane.open = false;
    lane.running++;
    this.#running++;
    const who = lane.waiting.shift();
    this.#opened(name, lane);
    return who;
  }

  /** Gives back a place in a lane. */
  leave(name: string): void {
    const lane = this.#lanes.get(name);
    if (!lane) return;
    lane.running--;
    this.#running--;
    if (lane.running === 0 && lane.waiting.length === 0) this.#lanes.delete(name);
    else this.#opened(name, lane);
  }

  #opened(name: string, lane: Lane<T>): void {
    if (lane.open || lane.waiting.length === 0 || lane.running >= this.#perLane) return;
    lane.open = true;
    this.#open.push(name);
  }
}
