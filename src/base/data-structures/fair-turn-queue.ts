/**
 * Spreads work over turns of the event loop. Each turn starts a limited number of items, and the other items wait for
 * later turns, in which the holders alternate. A burst of one holder therefore delays the items of others, and all other
 * work of the process, by at most one turn.
 */
export class FairTurnQueue {
  readonly #itemsPerTurn: number;
  readonly #waiting = new Map<string, (() => void)[]>();
  #startedInTurn = 0;
  #isTurnScheduled = false;

  constructor(itemsPerTurn: number) {
    this.#itemsPerTurn = itemsPerTurn;
  }

  /** Starts an item, at once if the current turn of the event loop has started few items. */
  start(holder: string, item: () => void): void {
    this.#scheduleTurn();
    if (this.#startedInTurn < this.#itemsPerTurn && this.#waiting.size === 0) {
      this.#startedInTurn++;
      item();
      return;
    }
    const items = this.#waiting.get(holder);
    if (items) items.push(item);
    else this.#waiting.set(holder, [item]);
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled) return;
    this.#isTurnScheduled = true;
    setImmediate(() => {
      this.#isTurnScheduled = false;
      this.#startTurn();
    });
  }

  #startTurn(): void {
    for (this.#startedInTurn = 0; this.#startedInTurn < this.#itemsPerTurn; this.#startedInTurn++) {
      const next = this.#takeNext();
      if (!next) break;
      next();
    }
    if (this.#startedInTurn > 0) this.#scheduleTurn();
  }

  /** Takes an item of the holder that has waited longest for its turn. */
  #takeNext(): (() => void) | undefined {
    const [entry] = this.#waiting;
    if (!entry) return undefined;
    const [holder, items] = entry;
    const item = items.shift();
    this.#waiting.delete(holder);
    if (items.length > 0) this.#waiting.set(holder, items);
    return item;
  }
}
