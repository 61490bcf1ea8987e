import { parseDocuments, pickDocuments } from "../context-documents.ts";
import type { SolverFinding, ModelMessage, ModelReply } from "../role-model.ts";
import type { TaskOutcome } from "../role.ts";
import { sumTokens } from "../token-usage.ts";
import { type PlannerAction, parseAction } from "./planner-action.ts";
import { findDependencyProblem, type Subtask } from "./subtask-placeholders.ts";
import * as prompts from "./prompts.ts";
import { buildPlannerRequest, type PlannerRequest, renderPlannerStatus } from "./planner-request.ts";
import {
  findLatestAnswer,
  canCallSolver,
  type PlannerNotice,
  createPartialOutcome,
  type PlannerState,
} from "./planner-state.ts";

/** An event that changes the state of a planner. */
type PlannerEvent =
  /** The planner's task has arrived. */
  | { readonly kind: "begun" }
  | { readonly kind: "replied"; readonly reply: ModelReply }
  /** All subtasks of the current turn have finished. */
  | { readonly kind: "found"; readonly findings: readonly SolverFinding[]; readonly tokensSpent: number };

/** The next action of the planner state machine. */
type PlannerStep =
  | { readonly kind: "think"; readonly request: PlannerRequest }
  | { readonly kind: "dispatch"; readonly subtasks: readonly Subtask[]; readonly forced: boolean }
  | { readonly kind: "answer"; readonly answer: TaskOutcome; readonly notice?: PlannerNotice };

/** The new state of a planner and its next step. */
export interface PlannerTransition {
  readonly state: PlannerState;
  readonly step: PlannerStep;
}

/**
 * Computes the next state and step of a planner from an event. `computeTransition` contains the planner's
 * entire decision logic.
 */
export function computeTransition(state: PlannerState, event: PlannerEvent): PlannerTransition {
  if (event.kind === "begun") return requestModelReply(state);
  if (event.kind === "found") return requestModelReply(finishTurn(state, event.findings, event.tokensSpent));
  const { text, usage } = event.reply;
  return applyModelReply({ ...state, tokensSpent: state.tokensSpent + sumTokens(usage) }, text);
}

function requestModelReply(before: PlannerState): PlannerTransition {
  const { limits, tokensSpent, turn } = before;
  if (tokensSpent >= limits.tokenBudget)
    return stopAtLimit(before, "token_budget", `it has used ${tokensSpent} of ${limits.tokenBudget} tokens`);
  if (turn > limits.maxTurns)
    return stopAtLimit(before, "turn_limit", `it has used all ${limits.maxTurns} turns`);
  const { state, request } = buildPlannerRequest(before);
  return { state, step: { kind: "think", request } };
}

function applyModelReply(state: PlannerState, text: string): PlannerTransition {
  const parsed = parseAction(text);
  if ("problem" in parsed) return rejectReply(state, text, parsed.problem);
  const { action } = parsed;
  if (action.action === "final_answer") return applyFinalAnswer(state, text, action.answer);
  if (!canCallSolver(state)) {
    const { limits, turn, solverCalls } = state;
    const reason =
      turn >= limits.maxTurns
        ? `it delegated in its last turn, ${turn} of ${limits.maxTurns}`
        : `it delegated again after ${solverCalls} of ${limits.maxSolverCalls} solver calls`;
    return stopAtLimit(state, "turn_limit", reason);
  }
  const subtasks = toSubtasks(state, action);
  const problem = findBatchProblem(state, subtasks);
  if (problem !== undefined) return rejectReply(state, text, problem);
  return startDispatch(appendReply(state, text), subtasks, false);
}

function toSubtasks(
  state: PlannerState,
  action: Exclude<PlannerAction, { action: "final_answer" }>,
): readonly Subtask[] {
  if (action.action === "call_solvers") return action.subtasks;
  const { subtask, documents } = action;
  return [{ id: `t${state.turn}`, task: subtask, ...(documents && { documents }) }];
}

function findBatchProblem(state: PlannerState, subtasks: readonly Subtask[]): string | undefined {
  const { settings, limits, solverCalls, findings, task } = state;
  const callsLeft = limits.maxSolverCalls - solverCalls;
  if (subtasks.length > callsLeft)
    return `${subtasks.length} subtasks are too many, because only ${callsLeft} more solver calls are allowed`;
  if (settings.context === "routed" && parseDocuments(task.metadata.context).length > 0) {
    for (const { documents = [] } of subtasks) {
      const [unknownDocument] = pickDocuments(task.metadata.context, documents).unknown;
      if (unknownDocument !== undefined) return `there is no document ${JSON.stringify(unknownDocument)}`;
    }
  }
  return findDependencyProblem(subtasks, new Set(findings.flatMap(({ id }) => id ?? [])));
}

function applyFinalAnswer(state: PlannerState, text: string, answer: string): PlannerTransition {
  const { settings, findings, replyProblems, task } = state;
  const isEarly = findings.length === 0 && canCallSolver(state);
  const mayAnswerEarly = settings.forceFirstSolver === "allow" && settings.mode !== "plan-first";
  if (isEarly && !mayAnswerEarly) {
    if (!replyProblems.includes("early"))
      return repromptModel(
        state,
        text,
        "early",
        "no solver was called yet, but the answer must be based on a solver's reply",
      );
    if (settings.forceFirstSolver === "force")
      return startDispatch(
        appendReply(state, text),
        [{ id: "forced", task: task.content, ...selectAllDocuments(state) }],
        true,
      );
  }
  return {
    state,
    step: { kind: "answer", answer: { result: answer, status: "completed", metadata: { turn: state.turn } } },
  };
}

/** Selects all documents of the problem, for a solver that receives the entire problem. */
function selectAllDocuments({ settings, task }: PlannerState): { documents?: string[] } {
  if (settings.context !== "routed") return {};
  const ids = parseDocuments(task.metadata.context).map(({ id }) => id);
  return ids.length > 0 ? { documents: ids } : {};
}

function rejectReply(state: PlannerState, text: string, problem: string): PlannerTransition {
  if (!state.replyProblems.includes("useless")) return repromptModel(state, text, "useless", problem);
  const error = `The planner's model returned no valid action in turn ${state.turn}, even after a second request: ${problem}.`;
  return { state, step: { kind: "answer", answer: { error, errorType: "invalid_action" } } };
}

function repromptModel(
  state: PlannerState,
  text: string,
  replyProblem: "useless" | "early",
  problem: string,
): PlannerTransition {
  const messages: ModelMessage[] = [
    ...state.messages,
    { role: "assistant", text },
    { role: "user", text: prompts.renderReprompt(problem) },
  ];
  return requestModelReply({ ...state, messages, replyProblems: [...state.replyProblems, replyProblem] });
}

function appendReply(state: PlannerState, text: string): PlannerState {
  return { ...state, messages: [...state.messages, { role: "assistant", text }] };
}

function startDispatch(
  state: PlannerState,
  subtasks: readonly Subtask[],
  forced: boolean,
): PlannerTransition {
  return {
    state: { ...state, solverCalls: state.solverCalls + subtasks.length },
    step: { kind: "dispatch", subtasks, forced },
  };
}

/** Ends a turn. The returned planner state starts the next turn and contains the new findings. */
function finishTurn(state: PlannerState, findings: readonly SolverFinding[], tokens: number): PlannerState {
  const nextState: PlannerState = {
    ...state,
    turn: state.turn + 1,
    findings: [...state.findings, ...findings],
    tokensSpent: state.tokensSpent + tokens,
    messages: [],
    replyProblems: [],
  };
  if (state.settings.transcript === "facts") return nextState;
  const text = `${prompts.renderFindings(findings, state.findings.length + 1)}\n\n${renderPlannerStatus(nextState)}`;
  return { ...nextState, messages: [...state.messages, { role: "user", text }] };
}

function stopAtLimit(
  state: PlannerState,
  errorType: "turn_limit" | "token_budget",
  reason: string,
): PlannerTransition {
  return {
    state,
    step: {
      kind: "answer",
      answer: createPartialOutcome(state, findLatestAnswer(state) ?? "", errorType),
      notice: { error: `The planner stopped without an answer: ${reason}.`, errorType },
    },
  };
}
