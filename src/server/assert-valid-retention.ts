import {
  assertValidRetentionOptions,
  type RetentionOptions,
  type RetentionPeriods,
} from "../retention/index.ts";
import { defineOptionNames } from "../usage-checks/index.ts";

const assertKnownRetentionOptions = defineOptionNames<RetentionOptions>()(
  '"retention" of createServer',
  "agents keepEventsMs keepTasksMs keepWaitingTasksMs maxBytes maxFinishedTasks sweepIntervalMs",
);
const assertKnownRetentionPeriods = defineOptionNames<RetentionPeriods>()(
  '"retention.agents" of createServer',
  "keepEventsMs keepTasksMs keepWaitingTasksMs",
);

/** Throws an error if an option of `retention` is unknown or invalid. */
export function assertValidRetention(retention: RetentionOptions): void {
  assertKnownRetentionOptions(retention);
  for (const periods of Object.values(retention.agents ?? {}))
    if (periods) assertKnownRetentionPeriods(periods);
  assertValidRetentionOptions(retention);
}
