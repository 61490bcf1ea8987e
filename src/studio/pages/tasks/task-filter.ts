import type { ConsoleTaskQuery } from "../../console-api/index.ts";
import { TASK_STATES } from "../../../protocol/index.ts";

/** Filters of the task list, as the URL contains them. Times are local, in the form of `datetime-local` inputs. */
export interface TaskFilter {
  readonly state?: string | undefined;
  readonly agent?: string | undefined;
  readonly context?: string | undefined;
  readonly text?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Converts filters to a query. Unknown states and invalid times are ignored. */
export function toTaskQuery(filter: TaskFilter): ConsoleTaskQuery {
  const state = TASK_STATES.find((known) => known === filter.state);
  const from = toIsoTime(filter.from);
  const to = toIsoTime(filter.to);
  return {
    ...(state === undefined ? {} : { state }),
    ...(filter.agent ? { agent: filter.agent } : {}),
    ...(filter.context ? { context: filter.context } : {}),
    ...(filter.text ? { text: filter.text } : {}),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
}

/** Returns whether any filter is set. */
export function hasFilter(filter: TaskFilter): boolean {
  return Object.keys(toTaskQuery(filter)).length > 0;
}

function toIsoTime(local: string | undefined): string | undefined {
  const timeMs = local ? new Date(local).getTime() : Number.NaN;
  return Number.isNaN(timeMs) ? undefined : new Date(timeMs).toISOString();
}
