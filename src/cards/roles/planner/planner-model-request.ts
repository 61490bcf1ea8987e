import { parseContextDocuments } from "../context-documents.ts";
import type { ModelMessage, ModelRequest } from "../role-model.ts";
import { type PlannerActionName, buildActionSchema } from "./planner-action.ts";
import * as prompts from "./prompts.ts";
import { canCallSolver, type PlannerState } from "./planner-state.ts";

/** A model request that a planner sends. The `TaskContext` later adds the role name and the signal. */
export type PlannerModelRequest = Omit<ModelRequest, "role" | "signal">;

/**
 * Builds the model request for a planner state. At the start of a turn, the function also adds the opening
 * message to the returned planner state.
 */
export function buildPlannerModelRequest(before: PlannerState): {
  readonly state: PlannerState;
  readonly request: PlannerModelRequest;
} {
  const state = before.messages.length > 0 ? before : { ...before, messages: [createOpeningMessage(before)] };
  const { settings, task, limits, turn, findings, messages, replyProblems } = state;
  const documents = parseContextDocuments(task.metadata.context).length > 0;
  const promptContents = { documents, quotes: documents || findings.length > 0 };
  const maxTokens = Math.min(settings.maxTokens ?? Infinity, limits.tokenBudget - state.tokensSpent);
  const solverCallsLeft = limits.maxSolverCalls - state.solverCalls;
  const instructions = prompts.renderInstructions(
    getModeActions(settings.mode),
    settings.context,
    promptContents,
    settings.instructions,
  );
  const request: PlannerModelRequest = {
    input: {
      kind: "plan",
      task,
      findings,
      turn,
      maxTurns: limits.maxTurns,
      solverCallsLeft: Number.isFinite(solverCallsLeft) ? solverCallsLeft : undefined,
      mode: settings.mode,
      ...(replyProblems.length > 0 && { rejectionReason: messages.at(-1)?.text ?? "" }),
    },
    // The constant part comes first, so that providers can cache it.
    messages: [{ role: "system", text: instructions }, ...messages],
    schema: buildActionSchema(listAllowedActions(state), documents && settings.context === "routed"),
    ...(Number.isFinite(maxTokens) && { maxTokens }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.seed !== undefined && { seed: settings.seed }),
  };
  return { state, request };
}

/** Renders the current turn and the allowed actions at the end of a prompt. */
export function renderPlannerTurnStatus(state: PlannerState): string {
  const { turn, limits, solverCalls } = state;
  return prompts.renderTurnStatusPrompt(
    turn,
    limits.maxTurns,
    limits.maxSolverCalls - solverCalls,
    listAllowedActions(state),
  );
}

function createOpeningMessage(state: PlannerState): ModelMessage {
  const { task, settings, findings } = state;
  const parts = [
    prompts.renderProblem(task, settings.context),
    ...(findings.length > 0 ? [prompts.renderFindings(findings)] : []),
    renderPlannerTurnStatus(state),
  ];
  return { role: "user", text: parts.join("\n\n") };
}

/** Returns the actions that the planner may choose in the current turn. */
function listAllowedActions(state: PlannerState): PlannerActionName[] {
  const { settings, findings } = state;
  const [call, answer] = getModeActions(settings.mode);
  if (!canCallSolver(state)) return [answer];
  const mustCall = settings.forceFirstSolver !== "allow" || settings.mode === "plan-first";
  return mustCall && findings.length === 0 ? [call] : [call, answer];
}

function getModeActions(mode: string): [PlannerActionName, PlannerActionName] {
  return [mode === "chained" ? "call_solver" : "call_solvers", "final_answer"];
}
