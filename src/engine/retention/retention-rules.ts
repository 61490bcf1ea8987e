import type { RetentionOptions, RetentionPeriods } from "./retention-policy.ts";

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
