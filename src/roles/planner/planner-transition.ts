import { parseDocuments, pickDocuments } from "../context-documents.ts";
import type { SolverFinding, ModelMessage, ModelReply } from "../role-model.ts";
import type { TaskOutcome } from "../role.ts";
import { type PlannerAction, parseAction } from "./planner-action.ts";
import { findDependencyProblem, type Subtask } from "./placeholders.ts";
import * as prompts from "./prompts.ts";
import { buildPlannerRequest, type PlannerRequest, renderPlannerStatus } from "./planner-request.ts";
import {
  findLatestAnswer,
  canCallSolver,
  type PlannerNotice,
  createPartialOutcome,
  type PlannerState,
} from "./planner-state.ts";

/** What happens to a planner. */
export type PlannerEvent =
  /** The controller's task is there, or the planner may go on. */
  | { readonly kind: "begun" }
  | { readonly kind: "replied"; readonly reply: ModelReply }
  /** All subtasks of a turn have come to their end. */
  | { readonly kind: "found"; readonly findings: readonly SolverFinding[]; readonly tokensSpent: number };

/** What a planner does next. */
export type PlannerStep =
  | { readonly kind: "think"; readonly request: PlannerRequest }
  | { readonly kind: "dispatch"; readonly subtasks: readonly Subtask[]; readonly forced: boolean }
  | { readonly kind: "answer"; readonly answer: TaskOutcome; readonly notice?: PlannerNotice };

export interface PlannerTransition {
  readonly state: PlannerState;
  readonly step: PlannerStep;
}

/** The whole planner: what it does when something happens. */
export function computeTransition(state: PlannerState, event: PlannerEvent): PlannerTransition {
  if (event.kind === "begun") return requestModelReply(state);
  if (event.kind === "found") return requestModelReply(finishTurn(state, event.findings, event.tokensSpent));
  const { text, usage } = event.reply;
  const spent = usage ? usage.input_tokens + usage.output_tokens : 0;
  return applyModelReply({ ...state, tokensSpent: state.tokensSpent + spent }, text);
}

function requestModelReply(before: PlannerState): PlannerTransition {
  const { limits, tokensSpent: tokens, turn } = before;
  if (tokens >= limits.tokenBudget)
    return stopAtLimit(before, "token_budget", `${tokens} tokens are spent, of ${limits.tokenBudget}`);
  if (turn > limits.maxTurns)
    return stopAtLimit(before, "turn_limit", `there are only ${limits.maxTurns} turns`);
  const { state, request } = buildPlannerRequest(before);
  return { state, step: { kind: "think", request } };
}

function applyModelReply(state: PlannerState, text: string): PlannerTransition {
  const understood = parseAction(text);
  if ("problem" in understood) return rejectReply(state, text, understood.problem);
  const { action } = understood;
  if (action.action === "final_answer") return applyFinalAnswer(state, text, action.answer);
  if (!canCallSolver(state)) {
    const { limits, turn, solverCalls: calls } = state;
    const why =
      turn >= limits.maxTurns
        ? `it delegated in its last turn, ${turn} of ${limits.maxTurns}`
        : `it delegated again after ${calls} solver calls, of ${limits.maxSolverCalls}`;
    return stopAtLimit(state, "turn_limit", why);
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
  const { subtask: task, documents } = action;
  return [{ id: `t${state.turn}`, task, ...(documents && { documents }) }];
}

function findBatchProblem(state: PlannerState, subtasks: readonly Subtask[]): string | undefined {
  const { settings, limits, solverCalls: calls, findings, task } = state;
  const left = limits.maxSolverCalls - calls;
  if (subtasks.length > left)
    return `${subtasks.length} subtasks are too many, only ${left} more can be given`;
  if (settings.context === "routed" && parseDocuments(task.metadata.context).length > 0) {
    for (const { documents = [] } of subtasks) {
      const [stranger] = pickDocuments(task.metadata.context, documents).unknown;
      if (stranger !== undefined) return `there is no document ${JSON.stringify(stranger)}`;
    }
  }
  return findDependencyProblem(subtasks, new Set(findings.flatMap(({ id }) => id ?? [])));
}

function applyFinalAnswer(state: PlannerState, text: string, answer: string): PlannerTransition {
  const { settings, findings, replyProblems: complaints, task } = state;
  const early = findings.length === 0 && canCallSolver(state);
  const allowed = settings.forceFirstSolver === "allow" && settings.mode !== "plan-first";
  if (early && !allowed) {
    if (!complaints.includes("early"))
      return repromptModel(
        state,
        text,
        "early",
        "no solver was called yet, and the answer has to rest on what one finds",
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

/** Whoever is given the whole problem needs all that belongs to it. */
function selectAllDocuments({ settings, task }: PlannerState): { documents?: string[] } {
  if (settings.context !== "routed") return {};
  const ids = parseDocuments(task.metadata.context).map(({ id }) => id);
  return ids.length > 0 ? { documents: ids } : {};
}

function rejectReply(state: PlannerState, text: string, problem: string): PlannerTransition {
  if (!state.replyProblems.includes("useless")) return repromptModel(state, text, "useless", problem);
  const error = `The planner's model gave no usable action in turn ${state.turn}, and none when asked again: ${problem}.`;
  return { state, step: { kind: "answer", answer: { error, errorType: "invalid_action" } } };
}

function repromptModel(
  state: PlannerState,
  text: string,
  complaint: "useless" | "early",
  problem: string,
): PlannerTransition {
  const said: ModelMessage[] = [
    ...state.messages,
    { role: "assistant", text },
    { role: "user", text: prompts.renderReprompt(problem) },
  ];
  return requestModelReply({ ...state, messages: said, replyProblems: [...state.replyProblems, complaint] });
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

/** The end of a turn: what was found is known from the next one on. */
function finishTurn(state: PlannerState, findings: readonly SolverFinding[], tokens: number): PlannerState {
  const after: PlannerState = {
    ...state,
    turn: state.turn + 1,
    findings: [...state.findings, ...findings],
    tokensSpent: state.tokensSpent + tokens,
    messages: [],
    replyProblems: [],
  };
  if (state.settings.transcript === "facts") return after;
  const text = `${prompts.renderFindings(findings, state.findings.length + 1)}\n\n${renderPlannerStatus(after)}`;
  return { ...after, messages: [...state.messages, { role: "user", text }] };
}

function stopAtLimit(
  state: PlannerState,
  errorType: "turn_limit" | "token_budget",
  why: string,
): PlannerTransition {
  return {
    state,
    step: {
      kind: "answer",
      answer: createPartialOutcome(state, findLatestAnswer(state) ?? "", errorType),
      notice: { error: `The planner came to no answer: ${why}.`, errorType },
    },
  };
}
