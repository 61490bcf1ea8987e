import type { ControlCard } from "../../cards/index.ts";
import type { Answer, Desk, Role } from "../role.ts";
import { dispatch } from "./dispatch.ts";
import { type PlannerOptions, settingsOf } from "./options.ts";
import { type Move, next } from "./next.ts";
import { begin, heed, type PlannerState, soFar } from "./state.ts";

/**
 * A role that splits a problem into subtasks, has a solver do them, and answers from what that finds. Its model only
 * decides; `next` in `next.ts` says what becomes of a decision. Throws INVALID_PARAMS for limits that leave no way.
 *
 * It ends with a result `completed`; `partial`, when a limit or a stop came first (`metadata.error_type` says which, and a
 * notice goes beside it); or the error `invalid_action`, when the model was asked twice and named no action.
 */
export function createPlanner(options: PlannerOptions = {}): Role {
  const settings = settingsOf(options);
  return {
    name: settings.name,
    description: "Splits a problem into subtasks, has them solved, and answers from what was found.",
    work: (desk) => work(desk, begin(settings, desk.task)),
  };
}

async function work(desk: Desk, beginning: PlannerState): Promise<Answer> {
  let state = beginning;
  try {
    state = await heedAll(desk, state);
    let move: Move = next(state, { kind: "begun" });
    for (;;) {
      ({ state } = move);
      const { step } = move;
      switch (step.kind) {
        case "think":
          move = next(state, { kind: "replied", reply: await desk.think(step.request) });
          break;
        case "dispatch": {
          const { stopped, ...found } = await dispatch(desk, state, step.subtasks, step.forced);
          if (stopped) {
            // Still in this turn, which has come to no end.
            state = { ...state, findings: [...state.findings, ...found.findings] };
            throw stopped.reason;
          }
          state = await heedAll(desk, state);
          move = next(state, { kind: "found", ...found });
          break;
        }
        case "answer":
          if (step.notice) desk.notice(step.notice);
          return step.answer;
      }
    }
  } catch (error) {
    // Whoever stops a planner may still want what it has.
    const answer = desk.signal.aborted ? soFar(state, whyStopped(desk.signal.reason)) : undefined;
    if (answer) return answer;
    throw error;
  }
}

/** Between two turns: takes what control cards say, and holds while one of them says so. */
async function heedAll(desk: Desk, before: PlannerState): Promise<PlannerState> {
  let state = before;
  for (;;) {
    for (const card of desk.controls()) {
      const heeded = heed(state, card);
      ({ state } = heeded);
      if (heeded.notice) desk.notice(heeded.notice);
    }
    if (!state.paused) return state;
    await desk.controlled();
  }
}

/** A desk's signal has the control card as its reason, where there was one. */
function whyStopped(reason: unknown): "timeout" | "cancelled" {
  const parameters = (reason as Partial<ControlCard> | undefined)?.metadata?.parameters;
  const isTimeout =
    reason instanceof Error ? reason.name === "TimeoutError" : parameters?.["reason"] === "timeout";
  return isTimeout ? "timeout" : "cancelled";
}
