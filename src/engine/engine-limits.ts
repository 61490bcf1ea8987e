import { A2AError } from "../protocol/index.ts";
import { Quota } from "../base/data-structures/index.ts";

/**
 * Limits of one engine. A request that exceeds a limit is rejected with a `RESOURCE_EXHAUSTED` error,
 * which contains a retry time.
 */
export interface EngineLimits {
  /** Maximum number of concurrent agent runs. Default: 1,000. */
  readonly runs: number;
  /**
   * Fixed maximum number of concurrent agent runs per caller. A caller is a pair of tenant and principal. A
   * principal that can choose its tenant counts as one caller across all tenants. On a server without
   * authentication, each network address counts as a caller. Default: a fair share. One caller can use as many runs
   * as remain free, which is half of `runs` without other callers, and a third with one other busy caller.
   */
  readonly runsPerCaller?: number;
  /**
   * Approximate maximum size of all messages whose turns run or wait, in bytes of JSON. Each caller receives a fair
   * share, as for runs. Default: 256 MiB.
   */
  readonly unfinishedMessageBytes: number;
  /**
   * Maximum number of open streams of the engine. Each caller has a fair share, so a single caller can open half of the
   * streams, and each of two callers a third. Default: 10,000.
   */
  readonly streams: number;
  /**
   * Maximum number of messages that can wait for one task, and of turns that can wait in one context.
   * Default: 16.
   */
  readonly queuedTurns: number;
  /**
   * Maximum number of attempts at one turn before the task fails. `turnAttempts` applies to agents whose
   * `afterRestart` is `restart` or `resume`. Default: 5.
   */
  readonly turnAttempts: number;
  /**
   * Approximate maximum size of a task, in characters of JSON. A task fails if the output of its agent exceeds
   * the limit. A message that would exceed the limit is rejected. Default: 64 Mi, which is about 64 MiB.
   */
  readonly taskSize: number;
  /**
   * Approximate maximum size of a page of ListTasks, in bytes of JSON. A page that would exceed the limit ends
   * early, and its `nextPageToken` continues the list. A page contains at least one task. Default: 4 MiB.
   */
  readonly listPageBytes: number;
}

export function resolveEngineLimits(options: Partial<EngineLimits> = {}): EngineLimits {
  const { runsPerCaller } = options;
  return {
    runs: options.runs ?? 1000,
    ...(runsPerCaller === undefined ? {} : { runsPerCaller }),
    unfinishedMessageBytes: options.unfinishedMessageBytes ?? 256 * 2 ** 20,
    streams: options.streams ?? 10_000,
    queuedTurns: options.queuedTurns ?? 16,
    turnAttempts: options.turnAttempts ?? 5,
    taskSize: options.taskSize ?? 64 * 2 ** 20,
    listPageBytes: options.listPageBytes ?? 4 * 2 ** 20,
  };
}

export function createLimitError(description: string, limit: number | string, whose: string = ""): A2AError {
  const text = `The limit of ${limit} ${description} is reached${whose}; try again in a second.`;
  return new A2AError("RESOURCE_EXHAUSTED", text, { retryAfter: 1 });
}

/**
 * Creates the quota of an option, such as `limits.runs`, whose error names the option. The holders are callers
 * (`getLimitHolderKey`). `unit` is what the quota counts. `limitPerCaller` is the value of the option `${option}PerCaller`.
 */
export function createCallerQuota(
  option: string,
  unit: string,
  limit: number,
  limitPerCaller?: number,
): Quota {
  // Formatting a number takes several microseconds.
  const limitText = limit.toLocaleString("en");
  return new Quota({
    capacity: limit,
    maxPerHolder: limitPerCaller,
    createError: (refusal, holder) => {
      if (refusal === "capacity")
        return createLimitError(`${unit} (${option})`, limitText, " for all callers");
      const whose = ` for ${holder.startsWith("network:") ? "this remote address" : "this caller"}`;
      return limitPerCaller === undefined
        ? createLimitError(`${unit} (${option})`, limitText, whose)
        : createLimitError(`${unit} (${option}PerCaller)`, limitPerCaller, whose);
    },
  });
}
