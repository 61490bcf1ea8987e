import type { Clock } from "../../../engine/index.ts";
import { untilAborted } from "../../../client/index.ts";
import type { CardTokenUsage } from "../../index.ts";
import { systemClock } from "../a2a/role-runtime.ts";
import { describeModelFailure, type ModelReply, type RoleModel } from "../role-model.ts";

/** Options of `createRequestLimit`. */
export interface RequestLimitOptions {
  /** Maximum number of requests in flight. */
  readonly concurrency: number;
  /** Maximum number of requests in any period of one minute. Default: no limit. */
  readonly requestsPerMinute?: number;
  /**
   * Maximum number of input and output tokens of the replies in any period of one minute. When the limit is reached,
   * no request starts until it has passed. Default: no limit.
   */
  readonly tokensPerMinute?: number;
  /** Called with the usage of each reply. */
  readonly onUsage?: (usage: CardTokenUsage | undefined) => void;
  readonly clock?: Clock;
}

/** Limits the requests of all its models together. */
interface RequestLimit {
  /** Returns a model whose requests the limit controls. */
  wrap(model: RoleModel): RoleModel;
  /**
   * Returns the total time in milliseconds during which a limit per minute or a `Retry-After` of a server delayed at
   * least one request.
   */
  getDelayedMs(): number;
}

const MINUTE_MS = 60_000;
/** Number of times that a request is repeated after a `Retry-After` that is too long for the role itself. */
const MAX_PAUSES = 5;
/** A role repeats a request itself if the server asks for at most this time. */
const MAX_ROLE_DELAY_MS = 60_000;
/** A server that asks for a longer pause ends the run instead. */
const MAX_PAUSE_MS = 60 * MINUTE_MS;

/**
 * Creates a limit for the requests of several models. Requests wait in order. A request whose signal aborts while it
 * waits is not sent. If a server answers 429 or 503 with a `Retry-After`, no request starts before that time. If the
 * time is longer than the role would wait, the limit repeats the request itself.
 */
export function createRequestLimit(options: RequestLimitOptions): RequestLimit {
  const { concurrency, requestsPerMinute = Infinity, tokensPerMinute = Infinity, onUsage } = options;
  const { clock = systemClock } = options;
  const slots = new Slots(concurrency);
  const hasLimit = requestsPerMinute !== Infinity || tokensPerMinute !== Infinity;
  /** Times of the requests and tokens of the replies in the last minute, and their sums. */
  const recent: { readonly at: number; readonly requests: number; readonly tokens: number }[] = [];
  const sums = { requests: 0, tokens: 0 };
  let pausedUntil = 0;
  let delayed = 0;
  let delayedSince = 0;
  let delayedMs = 0;

  const record = (requests: number, tokens: number): void => {
    if (!hasLimit) return;
    recent.push({ at: clock.monotonic(), requests, tokens });
    sums.requests += requests;
    sums.tokens += tokens;
  };
  const findDelay = (): number => {
    const now = clock.monotonic();
    while (recent[0] && recent[0].at <= now - MINUTE_MS) {
      sums.requests -= recent[0].requests;
      sums.tokens -= recent[0].tokens;
      recent.shift();
    }
    const isFull = sums.requests >= requestsPerMinute || sums.tokens >= tokensPerMinute;
    return Math.max(pausedUntil - now, isFull ? (recent[0]?.at ?? now) + MINUTE_MS - now : 0);
  };
  const waitForTurn = async (signal: AbortSignal): Promise<void> => {
    for (let delay = findDelay(); delay > 0; delay = findDelay()) {
      if (delayed++ === 0) delayedSince = clock.monotonic();
      const elapsed = Promise.withResolvers<void>();
      const cancel = clock.schedule(Math.ceil(delay), elapsed.resolve);
      try {
        await untilAborted(elapsed.promise, signal);
      } finally {
        cancel();
        if (--delayed === 0) delayedMs += clock.monotonic() - delayedSince;
      }
    }
    record(1, 0);
  };
  /** Pauses all requests if the server asks for a pause. Returns whether the limit must repeat the request. */
  const pauseAfter = (thrown: unknown, pauses: number): boolean => {
    const { httpStatus, retryAfterMs = 0 } = describeModelFailure(thrown);
    if ((httpStatus !== 429 && httpStatus !== 503) || retryAfterMs > MAX_PAUSE_MS) return false;
    pausedUntil = Math.max(pausedUntil, clock.monotonic() + retryAfterMs);
    return retryAfterMs > MAX_ROLE_DELAY_MS && pauses < MAX_PAUSES;
  };
  return {
    getDelayedMs: () => delayedMs + (delayed > 0 ? clock.monotonic() - delayedSince : 0),
    wrap: (model) => ({
      ...model,
      async complete(request): Promise<ModelReply> {
        for (let pauses = 0; ; pauses++) {
          await slots.acquire(request.signal);
          try {
            await waitForTurn(request.signal);
            const reply = await model.complete(request);
            const { input_tokens = 0, output_tokens = 0 } = reply.usage ?? {};
            record(0, input_tokens + output_tokens);
            onUsage?.(reply.usage);
            return reply;
          } catch (error) {
            if (request.signal.aborted || !pauseAfter(error, pauses)) throw error;
          } finally {
            slots.release();
          }
        }
      },
    }),
  };
}

/** Slots for requests in flight. */
class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(free: number) {
    this.#free = free;
  }

  async acquire(signal: AbortSignal): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const turn = Promise.withResolvers<void>();
    this.#waiting.push(turn.resolve);
    await untilAborted(turn.promise, signal).catch((reason: unknown) => {
      const position = this.#waiting.indexOf(turn.resolve);
      // If the turn has already come, the request passes it on.
      if (position >= 0) this.#waiting.splice(position, 1);
      else this.release();
      throw reason;
    });
  }

  release(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#free += 1;
  }
}

/** Returns a clock whose timers exclude the time during which the limit delays requests. */
export function excludeDelays(limit: RequestLimit, clock: Clock = systemClock): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    scheduleTurn: (callback) => clock.scheduleTurn(callback),
    schedule(ms, callback) {
      let excludedMs = limit.getDelayedMs();
      let cancel: () => void;
      const wait = (rest: number): void => {
        cancel = clock.schedule(rest, () => {
          const extraMs = limit.getDelayedMs() - excludedMs;
          excludedMs += extraMs;
          if (extraMs > 0) wait(extraMs);
          else callback();
        });
      };
      wait(ms);
      return () => cancel();
    },
  };
}
