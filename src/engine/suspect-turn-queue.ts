import type { Clock } from "./clock.ts";

/** Time in milliseconds for which a suspect turn runs alone. */
const SUSPECT_RUN_MS = 10_000;

/** Starts a suspect turn. Resolves with a promise for the end of the turn, once the turn has started. Never rejects. */
type SuspectTurnStarter<Suspect> = (suspect: Suspect) => Promise<{ readonly end: Promise<void> }>;

/**
 * Starts suspect turns one at a time. The node of a suspect turn died in at least two attempts, so the turn itself may
 * have killed the node. If all of these turns started at once, the next death would count as an attempt of each, and
 * healthy turns would fail together with the turn that kills the node. The next turn starts when the turn before has
 * ended, or has run for ten seconds.
 */
export class SuspectTurnQueue<Suspect> {
  readonly #clock: Clock;
  readonly #start: SuspectTurnStarter<Suspect>;
  #waiting: Suspect[] = [];
  #isRunning = false;

  constructor(clock: Clock, start: SuspectTurnStarter<Suspect>) {
    this.#clock = clock;
    this.#start = start;
  }

  /** The turns that have not started. */
  get waiting(): readonly Suspect[] {
    return this.#waiting;
  }

  /** Adds turns. Resolves once the first of them has started, unless another turn is running. */
  async add(suspects: readonly Suspect[]): Promise<void> {
    this.#waiting.push(...suspects);
    if (!this.#isRunning) await this.#startNext();
  }

  /** Removes and returns the turns that have not started. */
  takeWaiting(): readonly Suspect[] {
    return this.#waiting.splice(0);
  }

  async #startNext(): Promise<void> {
    const next = this.#waiting.shift();
    this.#isRunning = next !== undefined;
    if (next === undefined) return;
    const { end } = await this.#start(next);
    void this.#waitAtMost(end).then(() => this.#startNext());
  }

  async #waitAtMost(end: Promise<void>): Promise<void> {
    let cancelTimer: (() => void) | undefined;
    const timeout = new Promise<void>((resolve) => {
      cancelTimer = this.#clock.schedule(SUSPECT_RUN_MS, resolve);
    });
    await Promise.race([end, timeout]);
    cancelTimer?.();
  }
}
