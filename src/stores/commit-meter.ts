import type { AppendRefusal, LogAppend, StoreGauges } from "../engine/index.ts";

/** Number of remembered commits. On a busy server, these are the commits of the last seconds. */
const MAX_COMMITS = 1000;
const WINDOW_MS = 60_000;

interface MeasuredCommit {
  readonly endedAt: number;
  readonly durationMs: number;
}

/** Measures the duration of commits, and counts commits and events. */
export class CommitMeter {
  readonly #now: () => number;
  /** The last commits in a ring, without order. */
  readonly #commits: MeasuredCommit[] = [];
  #succeeded = 0;
  #failed = 0;
  #events = 0;

  /** `now` returns a monotonic time in milliseconds. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Calls and measures `commit`, which commits `batch` and resolves with the outcome of each append. */
  async measure<Refusals extends readonly (AppendRefusal | undefined)[]>(
    batch: readonly LogAppend[],
    commit: () => Promise<Refusals>,
  ): Promise<Refusals> {
    const startedAt = this.#now();
    try {
      const refusals = await commit();
      const endedAt = this.#now();
      this.#commits[this.#succeeded++ % MAX_COMMITS] = { endedAt, durationMs: endedAt - startedAt };
      for (const [at, { events }] of batch.entries())
        if (refusals[at] === undefined) this.#events += events.length;
      return refusals;
    } catch (error) {
      this.#failed++;
      throw error;
    }
  }

  read(): StoreGauges["commits"] {
    const since = this.#now() - WINDOW_MS;
    const durations = this.#commits
      .filter(({ endedAt }) => endedAt >= since)
      .map((commit) => commit.durationMs);
    durations.sort((a, b) => a - b);
    const findPercentile = (share: number): number =>
      durations[Math.max(0, Math.ceil(durations.length * share) - 1)] ?? 0;
    return {
      succeeded: this.#succeeded,
      failed: this.#failed,
      events: this.#events,
      p50Ms: findPercentile(0.5),
      p99Ms: findPercentile(0.99),
    };
  }
}
