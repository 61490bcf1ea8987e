import { documentsOf } from "../documents.ts";
import type { ModelMessage, ModelRequest } from "../model.ts";
import { type ActionName, actionSchema } from "./action.ts";
import * as prompts from "./prompts.ts";
import { mayCall, type PlannerState } from "./state.ts";

/** What a role asks of its desk's model. */
export type PlannerRequest = Omit<ModelRequest, "role" | "signal">;

/** What the model is asked in this state, and the state in which it was. */
export function ask(before: PlannerState): {
  readonly state: PlannerState;
  readonly request: PlannerRequest;
} {
  const state = before.said.length > 0 ? before : { ...before, said: [opening(before)] };
  const { settings, task, limits, turn, findings, said, complaints } = state;
  const documents = documentsOf(task.metadata.context).length > 0;
  const sees = { documents, quotes: documents || findings.length > 0 };
  const left = limits.calls - state.calls;
  const instructions = prompts.instructions(actionsOf(settings.mode), settings.context, sees);
  const request: PlannerRequest = {
    step: {
      kind: "plan",
      task,
      findings,
      turn,
      turns: limits.turns,
      callsLeft: Number.isFinite(left) ? left : undefined,
      mode: settings.mode,
      ...(complaints.length > 0 && { repair: said.at(-1)?.text ?? "" }),
    },
    // What stays the same in all turns comes first, where providers can cache it.
    messages: [{ role: "system", text: instructions }, ...said],
    schema: actionSchema(offered(state), documents && settings.context === "routed"),
    ...(settings.maxTokens !== undefined && { maxTokens: settings.maxTokens }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.seed !== undefined && { seed: settings.seed }),
  };
  return { state, request };
}

/** Where the planner is and what it may do, as the last lines of what it is told in a turn. */
export function whereabouts(state: PlannerState): string {
  const { turn, limits, calls } = state;
  return prompts.where(turn, limits.turns, limits.calls - calls, offered(state));
}

function opening(state: PlannerState): ModelMessage {
  const { task, settings, findings } = state;
  const parts = [
    prompts.problem(task, settings.context),
    ...(findings.length > 0 ? [prompts.found(findings)] : []),
    whereabouts(state),
  ];
  return { role: "user", text: parts.join("\n\n") };
}

/** What the planner may do in this turn. */
function offered(state: PlannerState): ActionName[] {
  const { settings, findings } = state;
  const [call, answer] = actionsOf(settings.mode);
  if (!mayCall(state)) return [answer];
  const mustCall = settings.forceFirstSolver !== "allow" || settings.mode === "plan-first";
  return mustCall && findings.length === 0 ? [call] : [call, answer];
}

function actionsOf(mode: string): [ActionName, ActionName] {
  return [mode === "chained" ? "call_solver" : "call_solvers", "final_answer"];
}
