import type { Clock } from "./clock.ts";

/** Time limits of one attempt at a turn. An attempt without a limit has the value `Infinity`. */
export interface TurnLimits {
  /**
   * Maximum time in milliseconds in which an agent shows no progress. Progress is an event, a finished step of `once`, a
   * reported call, or a call to `run.progress`. The time of `sleep` and `suspend`, of a queue, of a question to the user,
   * and of an agent that waits for the store does not count. At the limit, `run.signal` aborts. The task is FAILED with
   * the reason once the agent has stopped, or after `cancelGraceMs`. `Infinity` sets no limit. Default: 1,800,000 (30
   * minutes).
   */
  readonly maxSilenceMs?: number | undefined;
  /**
   * Maximum working time of an attempt at a turn in milliseconds. The same times as for `maxSilenceMs` do not count, and
   * the same happens at the limit. Default: `Infinity`, no limit.
   */
  readonly maxTurnMs?: number | undefined;
}

/** Options of an agent that decide when the server ends its turns. */
export interface TurnPolicy extends TurnLimits {
  /**
   * Effect on a running turn when no client waits for its task. A client waits with an open stream or with a blocking
   * SendMessage, on any node. With `cancel`, the task is CANCELED once no client has waited for 30 seconds, or for the
   * lease of a node if it is longer. A turn that no client has waited for is never canceled, and neither is a task with a
   * webhook or with a question to its user. After a restart, only clients of the new attempt count. Default: `continue`.
   */
  readonly whenUnread?: "continue" | "cancel" | undefined;
}

type ResolvedLimits = { readonly [Name in keyof TurnLimits]-?: number };

/** Longest delay of a timer in milliseconds. Timers of Node fire at once if their delay exceeds 24 days. */
const MAX_DELAY_MS = 24 * 3_600_000;

/**
 * If the event loop was blocked for longer than `LATE_MS`, events can wait that the process received in time. The watch
 * then checks the turns again after `RECHECK_MS`, also if this check is late.
 */
const LATE_MS = 1000;
const RECHECK_MS = 250;

/** Throws an error if a limit is not a positive number. `owner` is a description of the options for the error message. */
export function assertValidTurnLimits(limits: TurnLimits, owner: string): void {
  for (const name of ["maxSilenceMs", "maxTurnMs"] as const) {
    const value: unknown = limits[name];
    if (value === undefined || (typeof value === "number" && value > 0)) continue;
    throw new Error(
      `"${name}" of ${owner} is ${JSON.stringify(value)}; use a positive number of milliseconds, or Infinity.`,
    );
  }
}

/** Measures the working turns of an engine, with one timer of the clock for all turns. */
export class TurnWatch {
  readonly #clock: Clock;
  readonly #limits: ResolvedLimits;
  readonly #timers = new Set<TurnTimer>();
  #checkAt = Infinity;
  #isRecheck = false;
  #cancelCheck: () => void = () => {};

  constructor(clock: Clock, limits: TurnLimits) {
    const { maxSilenceMs = 30 * 60_000, maxTurnMs = Infinity } = limits;
    this.#clock = clock;
    this.#limits = { maxSilenceMs, maxTurnMs };
  }

  /**
   * Starts to measure a turn. The limits of an agent take precedence over the limits of the engine. Calls `onLimit` once
   * with the reason if the turn exceeds a limit.
   */
  start(agent: TurnLimits, onLimit: (reason: string) => void): TurnTimer {
    const { maxSilenceMs = this.#limits.maxSilenceMs, maxTurnMs = this.#limits.maxTurnMs } = agent;
    const timer = new TurnTimer(this, { maxSilenceMs, maxTurnMs }, onLimit);
    this.#timers.add(timer);
    this.checkBefore(timer.dueAt);
    return timer;
  }

  /** Monotonic time in milliseconds. */
  now(): number {
    return this.#clock.monotonic();
  }

  remove(timer: TurnTimer): void {
    this.#timers.delete(timer);
    if (this.#timers.size > 0) return;
    this.#cancelCheck();
    this.#checkAt = Infinity;
    this.#isRecheck = false;
  }

  /** Ensures that the watch checks all turns at the time `dueAt` at the latest. */
  checkBefore(dueAt: number): void {
    if (dueAt >= this.#checkAt) return;
    this.#cancelCheck();
    const now = this.now();
    this.#checkAt = Math.min(dueAt, now + MAX_DELAY_MS);
    this.#cancelCheck = this.#clock.schedule(Math.max(0, this.#checkAt - now), () => this.#check());
  }

  #check(): void {
    const now = this.now();
    // The process has read the waiting events since the earlier check. A process that is always late must check, too.
    const isLate = !this.#isRecheck && now - this.#checkAt > LATE_MS;
    this.#isRecheck = isLate;
    this.#checkAt = Infinity;
    if (isLate) return this.checkBefore(now + RECHECK_MS);
    for (const timer of this.#timers) {
      if (timer.dueAt > now) this.checkBefore(timer.dueAt);
      else timer.expire(now);
    }
  }
}

/** The working time and the silence of one attempt at a turn. */
export class TurnTimer {
  readonly #watch: TurnWatch;
  readonly #limits: ResolvedLimits;
  readonly #onLimit: (reason: string) => void;
  #lastProgressAt: number;
  /** Time at which the turn exceeds `maxTurnMs` unless it pauses. */
  #endsAt: number;
  #pausedAt: number | undefined;
  #pauseCount = 0;

  constructor(watch: TurnWatch, limits: ResolvedLimits, onLimit: (reason: string) => void) {
    this.#watch = watch;
    this.#limits = limits;
    this.#onLimit = onLimit;
    this.#lastProgressAt = watch.now();
    this.#endsAt = this.#lastProgressAt + limits.maxTurnMs;
  }

  /** Monotonic time at which the turn exceeds a limit without further progress. */
  get dueAt(): number {
    if (this.#pausedAt !== undefined) return Infinity;
    return Math.min(this.#lastProgressAt + this.#limits.maxSilenceMs, this.#endsAt);
  }

  noteProgress(): void {
    this.#lastProgressAt = this.#watch.now();
  }

  /** Excludes the time until the matching call to `resume` from the limits. Pauses can overlap. */
  pause(): void {
    if (this.#pauseCount++ === 0) this.#pausedAt = this.#watch.now();
  }

  resume(): void {
    if (--this.#pauseCount > 0 || this.#pausedAt === undefined) return;
    this.noteProgress();
    this.#endsAt += this.#lastProgressAt - this.#pausedAt;
    this.#pausedAt = undefined;
    this.#watch.checkBefore(this.dueAt);
  }

  stop(): void {
    this.#watch.remove(this);
  }

  /** Reports the limit that the turn exceeds. */
  expire(now: number): void {
    this.stop();
    const { maxSilenceMs, maxTurnMs } = this.#limits;
    this.#onLimit(
      now >= this.#endsAt
        ? `The server stopped the agent, because its turn was not finished after ${formatLimit(maxTurnMs)} (maxTurnMs).`
        : `The server stopped the agent, because it showed no progress for ${formatLimit(maxSilenceMs)} (maxSilenceMs).`,
    );
  }
}

function formatLimit(ms: number): string {
  const [value, unit] = ms % 60_000 === 0 ? [ms / 60_000, "minute"] : [ms / 1000, "second"];
  return `${value.toLocaleString("en")} ${unit}${value === 1 ? "" : "s"}`;
}
