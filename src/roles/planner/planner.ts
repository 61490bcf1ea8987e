import type { ControlCard } from "../../cards/index.ts";
import type { TaskOutcome, TaskContext, Role } from "../role.ts";
import { dispatchSubtasks } from "./dispatch-subtasks.ts";
import { type PlannerOptions, resolveSettings } from "./planner-options.ts";
import { type PlannerTransition, computeTransition } from "./planner-transition.ts";
import { createPlannerState, applyControl, type PlannerState, findPartialOutcome } from "./planner-state.ts";

/**
 * A role that splits a problem into subtasks, has a solver do them, and answers from what that finds. Its model only
 * decides; `computeTransition` in `computeTransition.ts` says what becomes of a decision. Throws INVALID_PARAMS for limits that leave no way.
 *
 * It ends with a result `completed`; `partial`, when a limit or a stop came first (`metadata.error_type` says which, and a
 * notice goes beside it); or the error `invalid_action`, when the model was asked twice and named no action.
 */
export function createPlanner(options: PlannerOptions = {}): Role {
  const settings = resolveSettings(options);
  return {
    name: settings.name,
    description: "Splits a problem into subtasks, has them solved, and answers from what was found.",
    performTask: (taskContext) => runPlanner(taskContext, createPlannerState(settings, taskContext.task)),
  };
}

async function runPlanner(taskContext: TaskContext, initialState: PlannerState): Promise<TaskOutcome> {
  let state = initialState;
  try {
    state = await applyPendingControls(taskContext, state);
    let transition: PlannerTransition = computeTransition(state, { kind: "begun" });
    for (;;) {
      ({ state } = transition);
      const { step } = transition;
      switch (step.kind) {
        case "think":
          transition = computeTransition(state, {
            kind: "replied",
            reply: await taskContext.callModel(step.request),
          });
          break;
        case "dispatch": {
          const { stopped, ...found } = await dispatchSubtasks(
            taskContext,
            state,
            step.subtasks,
            step.forced,
          );
          if (stopped) {
            // Still in this turn, which has come to no end.
            state = { ...state, findings: [...state.findings, ...found.findings] };
            throw stopped.reason;
          }
          state = await applyPendingControls(taskContext, state);
          transition = computeTransition(state, { kind: "found", ...found });
          break;
        }
        case "answer":
          if (step.notice) taskContext.sendNotice(step.notice);
          return step.answer;
      }
    }
  } catch (error) {
    // Whoever stops a planner may still want what it has.
    const answer = taskContext.signal.aborted
      ? findPartialOutcome(state, getStopCause(taskContext.signal.reason))
      : undefined;
    if (answer) return answer;
    throw error;
  }
}

/** Between two turns: takes what control cards say, and holds while one of them says so. */
async function applyPendingControls(taskContext: TaskContext, before: PlannerState): Promise<PlannerState> {
  let state = before;
  for (;;) {
    for (const card of taskContext.takeControlCards()) {
      const result = applyControl(state, card);
      ({ state } = result);
      if (result.notice) taskContext.sendNotice(result.notice);
    }
    if (!state.isPaused) return state;
    await taskContext.waitForControlCard();
  }
}

/** A desk's signal has the control card as its reason, where there was one. */
function getStopCause(reason: unknown): "timeout" | "cancelled" {
  const parameters = (reason as Partial<ControlCard> | undefined)?.metadata?.parameters;
  const isTimeout =
    reason instanceof Error ? reason.name === "TimeoutError" : parameters?.["reason"] === "timeout";
  return isTimeout ? "timeout" : "cancelled";
}
