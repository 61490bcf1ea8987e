import type { ControlCard } from "../../index.ts";
import type { TaskOutcome, TaskContext, Role } from "../role.ts";
import { dispatchSubtasks } from "./dispatch-subtasks.ts";
import { type PlannerOptions, resolveSettings } from "./planner-options.ts";
import { type PlannerTransition, computeTransition } from "./planner-transition.ts";
import {
  createPlannerState,
  applyControlCardToState,
  type PlannerState,
  findPartialOutcome,
} from "./planner-state.ts";

/**
 * Creates a planner role that splits a problem into subtasks, sends the subtasks to a solver, and derives the
 * final answer. The planner's model chooses the actions, and `computeTransition` defines the effect of each
 * action. Throws `INVALID_PARAMS` if the limits are too low for any task.
 *
 * The planner's outcome is `completed`, `partial`, or an error. The outcome is `partial` if
 * a limit or a stop ended the work before the final answer. In a partial result, `metadata.error_type` states
 * which limit or stop ended the work. If a limit ended the work, the planner also sends a notice. The outcome
 * is an error if the model chose no valid action in two attempts: `truncated` or `filtered` if the model stopped
 * early, `placeholder` if the action repeats a placeholder of the prompt, and otherwise `invalid_action`.
 */
export function createPlanner(options: PlannerOptions = {}): Role {
  const settings = resolveSettings(options);
  return {
    name: settings.name,
    description: "Splits a problem into subtasks, sends them to a solver, and answers from the findings.",
    performTask: (taskContext) => runPlanner(taskContext, createPlannerState(settings, taskContext.task)),
  };
}

async function runPlanner(taskContext: TaskContext, initialState: PlannerState): Promise<TaskOutcome> {
  let state = initialState;
  try {
    state = await applyPendingControlCards(taskContext, state);
    let transition: PlannerTransition = computeTransition(state, { kind: "begun" });
    for (;;) {
      ({ state } = transition);
      const { step } = transition;
      switch (step.kind) {
        case "think": {
          const reply = await taskContext.callModel(step.request);
          transition = computeTransition(state, { kind: "replied", reply });
          if (transition.replyProblem !== undefined)
            taskContext.reportUnusableReply(transition.replyProblem, reply);
          break;
        }
        case "dispatch": {
          const { stopped, ...found } = await dispatchSubtasks(
            taskContext,
            state,
            step.subtasks,
            step.forced,
          );
          if (stopped) {
            // The turn is unfinished, so its number does not change.
            state = { ...state, findings: [...state.findings, ...found.findings] };
            throw stopped.reason;
          }
          state = await applyPendingControlCards(taskContext, state);
          transition = computeTransition(state, { kind: "found", ...found });
          break;
        }
        case "answer":
          if (step.notice) taskContext.notifyRequesterOfError(step.notice);
          return step.answer;
      }
    }
  } catch (error) {
    // The requester may still want a partial result of a stopped planner.
    const answer = taskContext.signal.aborted
      ? findPartialOutcome(state, getTaskAbortCause(taskContext.signal.reason))
      : undefined;
    if (answer) return answer;
    throw error;
  }
}

/** Applies pending control cards between two turns and waits while the planner is paused. */
async function applyPendingControlCards(
  taskContext: TaskContext,
  before: PlannerState,
): Promise<PlannerState> {
  let state = before;
  for (;;) {
    for (const card of await taskContext.takeControlCards()) {
      const result = applyControlCardToState(state, card);
      ({ state } = result);
      if (result.notice) taskContext.notifyRequesterOfError(result.notice);
    }
    if (!state.isPaused) return state;
    await taskContext.waitForControlCard();
  }
}

/**
 * Returns the reason why the task was stopped. If a control card stopped the task, the signal's abort reason
 * is that control card.
 */
function getTaskAbortCause(reason: unknown): "timeout" | "cancelled" {
  const parameters = (reason as Partial<ControlCard> | undefined)?.metadata?.parameters;
  const isTimeout =
    reason instanceof Error ? reason.name === "TimeoutError" : parameters?.["reason"] === "timeout";
  return isTimeout ? "timeout" : "cancelled";
}
