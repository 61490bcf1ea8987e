import type { Clock } from "../clock.ts";

/** Number of poll intervals after which an idle node has released its webhooks. */
const POLLS_UNTIL_RELEASE = 2;

/**
 * Repeats the claims of tasks whose webhooks another node holds. The other node may have read the log before the newest
 * event, and releases its lease soon after. The repeated claim then finds the undelivered event.
 */
export class WebhookClaimRepeater {
  readonly #clock: Clock;
  readonly #pollIntervalMs: number;
  /** The waiting repetitions, with the claims that have become necessary in the meantime. */
  readonly #repetitions = new Map<string, { isOutdated: boolean }>();

  constructor(clock: Clock, pollIntervalMs: number) {
    this.#clock = clock;
    this.#pollIntervalMs = pollIntervalMs;
  }

  /** Postpones a claim of the task, if the claim of an earlier event waits. Returns false if no claim waits. */
  postponeClaim(taskKey: string): boolean {
    const repetition = this.#repetitions.get(taskKey);
    if (repetition) repetition.isOutdated = true;
    return repetition !== undefined;
  }

  /** Schedules a claim. If the claim is postponed in the meantime, another claim follows. */
  schedule(taskKey: string, claim: () => void): void {
    if (this.#repetitions.has(taskKey)) return;
    const repetition = { isOutdated: false };
    this.#repetitions.set(taskKey, repetition);
    this.#clock.schedule(POLLS_UNTIL_RELEASE * this.#pollIntervalMs, () => {
      this.#repetitions.delete(taskKey);
      if (repetition.isOutdated) this.schedule(taskKey, claim);
      claim();
    });
  }
}
