import type { VNode } from "preact";
import { formatTaskState, type Task, type TaskState } from "../../../protocol/index.ts";

/** A symbol and a tone for each state, so that no state depends on its color alone. */
const STATE_LOOKS: Readonly<Record<TaskState, { readonly symbol: string; readonly tone: string }>> = {
  TASK_STATE_UNSPECIFIED: { symbol: "·", tone: "idle" },
  TASK_STATE_SUBMITTED: { symbol: "○", tone: "idle" },
  TASK_STATE_WORKING: { symbol: "◐", tone: "busy" },
  TASK_STATE_INPUT_REQUIRED: { symbol: "?", tone: "wait" },
  TASK_STATE_AUTH_REQUIRED: { symbol: "⚿", tone: "wait" },
  TASK_STATE_COMPLETED: { symbol: "✓", tone: "good" },
  TASK_STATE_FAILED: { symbol: "✕", tone: "bad" },
  TASK_STATE_CANCELED: { symbol: "⊘", tone: "warn" },
  TASK_STATE_REJECTED: { symbol: "⊝", tone: "bad" },
};

/** Returns the state that the page shows of a task: an agent that streams its answer works, also without a status. */
export function findShownState({ status: { state }, artifacts = [] }: Task): TaskState {
  return state === "TASK_STATE_SUBMITTED" && artifacts.length > 0 ? "TASK_STATE_WORKING" : state;
}

/** The state of a task as a symbol and a word. */
export function TaskStateBadge({ state }: { readonly state: TaskState }): VNode {
  // A state from a stranger may be in no list.
  const { symbol, tone } = Object.hasOwn(STATE_LOOKS, state)
    ? STATE_LOOKS[state]
    : STATE_LOOKS.TASK_STATE_UNSPECIFIED;
  return (
    <span class="badge" data-tone={tone} data-state={state}>
      <span aria-hidden="true">{symbol}</span> {formatTaskState(state) || "unknown"}
    </span>
  );
}
