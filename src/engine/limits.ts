import { A2AError } from "../protocol/index.ts";

/**
 * Limits of one engine (E14). A request that exceeds a limit is rejected with `RESOURCE_EXHAUSTED` and a
 * retry time.
 */
export interface EngineLimits {
  /** Maximum number of concurrent runs. Default: 1,000. */
  readonly runs: number;
  /**
   * Maximum number of concurrent runs of one (tenant, principal), or of one principal that can choose its
   * tenant. Default: the value of `runs`.
   */
  readonly runsPerCaller: number;
  /** Maximum number of open streams. Default: 10,000. */
  readonly streams: number;
  /** Maximum number of messages that wait for the current turn of one task. Default: 16. */
  readonly queuedTurns: number;
  /**
   * Maximum number of attempts of one turn before its task fails, for agents with `afterRestart` set to
   * `restart` or `resume`. Default: 5.
   */
  readonly turnAttempts: number;
}

export function resolveEngineLimits(options: Partial<EngineLimits> = {}): EngineLimits {
  const runs = options.runs ?? 1000;
  return {
    runs,
    runsPerCaller: options.runsPerCaller ?? runs,
    streams: options.streams ?? 10_000,
    queuedTurns: options.queuedTurns ?? 16,
    turnAttempts: options.turnAttempts ?? 5,
  };
}

/** A counter with an upper limit, like a semaphore that rejects instead of waiting. */
export class ConcurrencyLimit {
  readonly #description: string;
  readonly #limit: number;
  #inUse = 0;

  constructor(description: string, limit: number) {
    this.#description = description;
    this.#limit = limit;
  }

  get inUse(): number {
    return this.#inUse;
  }

  /**
   * Acquires one unit, to be returned with `release`. Throws `RESOURCE_EXHAUSTED` when the limit is reached.
   */
  acquire(): void {
    if (this.#inUse >= this.#limit) throw createLimitError(this.#description, this.#limit);
    this.#inUse++;
  }

  release(): void {
    this.#inUse--;
  }

  /**
   * Acquires one unit and returns a function that releases it. Repeated calls of that function have no
   * effect.
   */
  acquireWithRelease(): () => void {
    this.acquire();
    let held = true;
    return () => {
      if (held) this.release();
      held = false;
    };
  }
}

/** Creates the `RESOURCE_EXHAUSTED` error for a limit that is reached. */
export function createLimitError(description: string, limit: number): A2AError {
  return new A2AError(
    "RESOURCE_EXHAUSTED",
    `The limit of ${limit} ${description} is reached; try again in a second.`,
    {
      retryAfter: 1,
    },
  );
}
