import { A2AError } from "../protocol/index.ts";

/** The bounds of one engine (E14). Past one a caller is refused with RESOURCE_EXHAUSTED and a time to retry. */
export interface EngineLimits {
  /** Agents at work at once. Default 1,000. */
  readonly runs: number;
  /** Agents at work at once for one (tenant, principal), or for one principal who may choose the tenant. Default: as many as `runs`. */
  readonly runsPerCaller: number;
  /** Open streams. Default 10,000. */
  readonly streams: number;
  /** Messages that wait behind a running turn, per task. Default 16. */
  readonly queuedTurns: number;
  /** How often a turn is begun, before its task fails for good; for agents that say what is to be done `afterRestart`. Default 5. */
  readonly turnAttempts: number;
}

export function resolveEngineLimits(given: Partial<EngineLimits> = {}): EngineLimits {
  const runs = given.runs ?? 1000;
  return {
    runs,
    runsPerCaller: given.runsPerCaller ?? runs,
    streams: given.streams ?? 10_000,
    queuedTurns: given.queuedTurns ?? 16,
    turnAttempts: given.turnAttempts ?? 5,
  };
}

/** A counter with a bound, past which it refuses. */
export class ConcurrencyLimit {
  readonly #description: string;
  readonly #limit: number;
  #inUse = 0;

  constructor(what: string, limit: number) {
    this.#description = what;
    this.#limit = limit;
  }

  get inUse(): number {
    return this.#inUse;
  }

  /** Takes a place, to be given back with `release`. */
  acquire(): void {
    if (this.#inUse >= this.#limit) throw createLimitError(this.#description, this.#limit);
    this.#inUse++;
  }

  release(): void {
    this.#inUse--;
  }

  /** Takes a place; the answer gives it back, however often it is called. */
  acquireWithRelease(): () => void {
    this.acquire();
    let held = true;
    return () => {
      if (held) this.release();
      held = false;
    };
  }
}

/** The refusal of one thing too many. */
export function createLimitError(what: string, limit: number): A2AError {
  return new A2AError("RESOURCE_EXHAUSTED", `There are ${limit} ${what} already; try again in a second.`, {
    retryAfter: 1,
  });
}
