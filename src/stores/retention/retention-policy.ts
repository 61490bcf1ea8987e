/** Retention periods for the tasks of an agent. `Infinity` disables a period. */
export interface RetentionPeriods {
  /**
   * Time in milliseconds after the end of a task until the server deletes its events. Clients can resume the
   * streams of the task only while its events exist. Default: 7 days.
   */
  readonly keepEventsMs?: number;
  /**
   * Time in milliseconds after the end of a task until the server deletes the task and the ids of its
   * messages. Default: 30 days.
   */
  readonly keepTasksMs?: number;
  /**
   * Time in milliseconds until the server deletes a task that waits for input or authorization. The time
   * starts when the task starts to wait. Default: 90 days.
   */
  readonly keepWaitingTasksMs?: number;
}

/** Options that determine how long a server keeps tasks. */
export interface RetentionOptions extends RetentionPeriods {
  /**
   * Maximum size of the stored data in bytes. Above this size, the server deletes the tasks that ended first,
   * even if their retention periods have not passed. If no ended tasks are left, the memory store deletes the
   * tasks that have waited longest for input or authorization. Other tasks are never deleted because of the
   * size. Default: 256 MiB in the memory store, and no maximum in other stores.
   */
  readonly maxBytes?: number;
  /**
   * Maximum number of finished tasks in the memory store. The memory store deletes the task that finished
   * first. Other stores do not support `maxFinishedTasks`. Default: 10,000.
   */
  readonly maxFinishedTasks?: number;
  /**
   * Retention periods of single agents by agent id. `false` keeps all tasks of the agent. The other options
   * are the defaults of the periods.
   */
  readonly agents?: Readonly<Record<string, RetentionPeriods | false>>;
  /** Time in milliseconds between two sweeps of the store. Default: 10,000. */
  readonly sweepIntervalMs?: number;
}

export const DEFAULT_SWEEP_INTERVAL_MS = 10_000;

/** Throws a `RangeError` if an option is not a positive number. */
export function assertValidRetentionOptions(options: RetentionOptions): void {
  const { agents = {}, ...own } = options;
  assertPositiveNumbers("retention", own);
  for (const [id, periods] of Object.entries(agents))
    if (periods) assertPositiveNumbers(`retention.agents[${JSON.stringify(id)}]`, periods);
}

function assertPositiveNumbers(where: string, values: object): void {
  for (const [name, value] of Object.entries(values))
    if (value !== undefined && !(typeof value === "number" && value > 0))
      throw new RangeError(
        `${where}.${name} is ${JSON.stringify(value)}; use a number greater than 0, or Infinity.`,
      );
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** A rule that deletes the events or the tasks of some agents after a period. */
export interface RetentionRule {
  readonly deletes: "events" | "task";
  readonly status: "ended" | "waiting";
  readonly keepMs: number;
  readonly appliesToAgent: (agentId: string) => boolean;
}

const DEFAULT_PERIODS: Required<RetentionPeriods> = {
  keepEventsMs: 7 * DAY_MS,
  keepTasksMs: 30 * DAY_MS,
  keepWaitingTasksMs: 90 * DAY_MS,
};

/** Creates the rules of a retention policy. The rules of single agents replace the rules of all agents. */
export function createRetentionRules({ agents = {}, ...options }: RetentionOptions): RetentionRule[] {
  const defaults = withDefaultPeriods(DEFAULT_PERIODS, options);
  const rules = createPeriodRules(defaults, (agentId) => !Object.hasOwn(agents, agentId));
  for (const [id, periods] of Object.entries(agents))
    if (periods)
      rules.push(...createPeriodRules(withDefaultPeriods(defaults, periods), (agentId) => agentId === id));
  return rules;
}

/** Returns false if the policy keeps all tasks of the agent, regardless of the size of the store. */
export function canDeleteTasksOfAgent({ agents = {} }: RetentionOptions, agentId: string): boolean {
  return !Object.hasOwn(agents, agentId) || agents[agentId] !== false;
}

function withDefaultPeriods(
  defaults: Required<RetentionPeriods>,
  { keepEventsMs, keepTasksMs, keepWaitingTasksMs }: RetentionPeriods,
): Required<RetentionPeriods> {
  return {
    keepEventsMs: keepEventsMs ?? defaults.keepEventsMs,
    keepTasksMs: keepTasksMs ?? defaults.keepTasksMs,
    keepWaitingTasksMs: keepWaitingTasksMs ?? defaults.keepWaitingTasksMs,
  };
}

function createPeriodRules(
  { keepEventsMs, keepTasksMs, keepWaitingTasksMs }: Required<RetentionPeriods>,
  appliesToAgent: RetentionRule["appliesToAgent"],
): RetentionRule[] {
  const rules: RetentionRule[] = [
    { deletes: "task", status: "ended", keepMs: keepTasksMs, appliesToAgent },
    { deletes: "task", status: "waiting", keepMs: keepWaitingTasksMs, appliesToAgent },
  ];
  if (keepEventsMs < keepTasksMs)
    rules.push({ deletes: "events", status: "ended", keepMs: keepEventsMs, appliesToAgent });
  return rules.filter(({ keepMs }) => keepMs !== Infinity);
}
