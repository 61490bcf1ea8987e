import { parseContextDocuments, selectContextDocumentsByName } from "../context-documents.ts";
import {
  findReplyErrorType,
  type ModelMessage,
  type ModelReply,
  type ModelRequest,
  type SolverFinding,
  sumInputAndOutputTokens,
} from "../role-model.ts";
import type { TaskOutcome } from "../role.ts";
import {
  buildActionSchema,
  parseAction,
  type PlannerAction,
  type PlannerActionName,
} from "./planner-action.ts";
import {
  canCallSolver,
  createPartialOutcome,
  findDependencyProblem,
  findLatestAnswer,
  type PlannerErrorNotice,
  type PlannerState,
  type Subtask,
} from "./planner-state.ts";
import {
  renderFindings,
  renderInstructions,
  renderProblem,
  renderReprompt,
  renderTurnStatusPrompt,
} from "../prompts.ts";

/** An event that changes the state of a planner. */
type PlannerTransitionEvent =
  /** The planner's task has arrived. */
  | { readonly kind: "begun" }
  | { readonly kind: "replied"; readonly reply: ModelReply }
  /** All subtasks of the current turn have finished. */
  | { readonly kind: "found"; readonly findings: readonly SolverFinding[]; readonly tokensSpent: number };

/** The next action of the planner state machine. */
type PlannerNextStep =
  | { readonly kind: "think"; readonly request: PlannerModelRequest }
  | { readonly kind: "dispatch"; readonly subtasks: readonly Subtask[]; readonly forced: boolean }
  | { readonly kind: "answer"; readonly answer: TaskOutcome; readonly notice?: PlannerErrorNotice };

/** The new state of a planner and its next step. */
export interface PlannerTransition {
  readonly state: PlannerState;
  readonly step: PlannerNextStep;
  /** Reason why the planner rejected the model's reply. */
  readonly replyProblem?: string;
}

/**
 * Computes the next state and step of a planner from an event. `computeTransition` contains the planner's
 * entire decision logic.
 */
export function computeTransition(state: PlannerState, event: PlannerTransitionEvent): PlannerTransition {
  if (event.kind === "begun") return transitionToModelRequest(state);
  if (event.kind === "found")
    return transitionToModelRequest(startNextTurnWithFindings(state, event.findings, event.tokensSpent));
  const { usage } = event.reply;
  return applyModelReply(
    { ...state, tokensSpent: state.tokensSpent + sumInputAndOutputTokens(usage) },
    event.reply,
  );
}

function transitionToModelRequest(before: PlannerState): PlannerTransition {
  const { limits, tokensSpent, turn } = before;
  if (tokensSpent >= limits.tokenBudget) return stopAtTokenBudget(before);
  if (turn > limits.maxTurns)
    return stopAtLimit(before, "turn_limit", `it has used all ${limits.maxTurns} turns`);
  const { state, request } = buildPlannerModelRequest(before);
  return { state, step: { kind: "think", request } };
}

function applyModelReply(state: PlannerState, { text, finish }: ModelReply): PlannerTransition {
  const parsed = parseAction(text);
  if ("problem" in parsed) {
    const cause = finish === "stop" ? "" : ` (the model stopped with ${finish})`;
    const errorType = findReplyErrorType(finish) ?? (parsed.isPlaceholder ? "placeholder" : "invalid_action");
    return repromptOrFailOnInvalidReply(state, text, `${parsed.problem}${cause}`, errorType);
  }
  const { action } = parsed;
  if (action.action === "final_answer") return acceptOrRefuseFinalAnswer(state, text, action.answer);
  if (!canCallSolver(state)) {
    const { limits, turn, solverCalls } = state;
    const reason =
      turn >= limits.maxTurns
        ? `it delegated in its last turn, ${turn} of ${limits.maxTurns}`
        : `it delegated again after ${solverCalls} of ${limits.maxSolverCalls} solver calls`;
    return stopAtLimit(state, "turn_limit", reason);
  }
  const subtasks = toSubtasks(state, action);
  const problem = findSubtaskBatchProblem(state, subtasks);
  if (problem !== undefined) return repromptOrFailOnInvalidReply(state, text, problem, "invalid_action");
  if (state.tokensSpent >= state.limits.tokenBudget) return stopAtTokenBudget(state);
  return transitionToDispatch(appendModelReply(state, text), subtasks, false);
}

function toSubtasks(
  state: PlannerState,
  action: Exclude<PlannerAction, { action: "final_answer" }>,
): readonly Subtask[] {
  if (action.action === "call_solvers") return action.subtasks;
  const { subtask, documents } = action;
  return [{ id: `t${state.turn}`, task: subtask, ...(documents && { documents }) }];
}

function findSubtaskBatchProblem(state: PlannerState, subtasks: readonly Subtask[]): string | undefined {
  const { settings, limits, solverCalls, findings, task } = state;
  const callsLeft = limits.maxSolverCalls - solverCalls;
  if (subtasks.length > callsLeft)
    return `${subtasks.length} subtasks are too many, because only ${callsLeft} more solver calls are allowed`;
  if (settings.context === "routed" && parseContextDocuments(task.metadata.context).length > 0) {
    for (const { documents = [] } of subtasks) {
      const [unknownDocument] = selectContextDocumentsByName(task.metadata.context, documents).unknown;
      if (unknownDocument !== undefined) return `there is no document ${JSON.stringify(unknownDocument)}`;
    }
  }
  return findDependencyProblem(subtasks, new Set(findings.flatMap(({ id }) => id ?? [])));
}

function acceptOrRefuseFinalAnswer(state: PlannerState, text: string, answer: string): PlannerTransition {
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
      return transitionToDispatch(
        appendModelReply(state, text),
        [{ id: "forced", task: task.content, ...selectDocumentsForForcedSubtask(state) }],
        true,
      );
  }
  return {
    state,
    step: { kind: "answer", answer: { result: answer, status: "completed", metadata: { turn: state.turn } } },
  };
}

/** Selects all documents of the problem, for a solver that receives the entire problem. */
function selectDocumentsForForcedSubtask({ settings, task }: PlannerState): { documents?: string[] } {
  if (settings.context !== "routed") return {};
  const ids = parseContextDocuments(task.metadata.context).map(({ id }) => id);
  return ids.length > 0 ? { documents: ids } : {};
}

function repromptOrFailOnInvalidReply(
  state: PlannerState,
  text: string,
  problem: string,
  errorType: string,
): PlannerTransition {
  if (!state.replyProblems.includes("useless")) return repromptModel(state, text, "useless", problem);
  const error = `The planner's model returned no valid action in turn ${state.turn}, even after a second request: ${problem}.`;
  return {
    state,
    step: { kind: "answer", answer: { error, errorType } },
    replyProblem: problem,
  };
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
    { role: "user", text: renderReprompt(problem) },
  ];
  const transition = transitionToModelRequest({
    ...state,
    messages,
    replyProblems: [...state.replyProblems, replyProblem],
  });
  return { ...transition, replyProblem: problem };
}

function appendModelReply(state: PlannerState, text: string): PlannerState {
  return { ...state, messages: [...state.messages, { role: "assistant", text }] };
}

function transitionToDispatch(
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
function startNextTurnWithFindings(
  state: PlannerState,
  findings: readonly SolverFinding[],
  tokens: number,
): PlannerState {
  const nextState: PlannerState = {
    ...state,
    turn: state.turn + 1,
    findings: [...state.findings, ...findings],
    tokensSpent: state.tokensSpent + tokens,
    messages: [],
    replyProblems: [],
  };
  if (state.settings.transcript === "facts") return nextState;
  const text = `${renderFindings(findings, state.findings.length + 1)}\n\n${renderPlannerTurnStatus(nextState)}`;
  return { ...nextState, messages: [...state.messages, { role: "user", text }] };
}

function stopAtTokenBudget(state: PlannerState): PlannerTransition {
  const { tokensSpent, limits } = state;
  return stopAtLimit(state, "token_budget", `it has used ${tokensSpent} of ${limits.tokenBudget} tokens`);
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

/** A model request that a planner sends. The `TaskContext` later adds the role name and the signal. */
type PlannerModelRequest = Omit<ModelRequest, "role" | "signal">;

/**
 * Builds the model request for a planner state. At the start of a turn, the function also adds the opening
 * message to the returned planner state.
 */
function buildPlannerModelRequest(before: PlannerState): {
  readonly state: PlannerState;
  readonly request: PlannerModelRequest;
} {
  const state = before.messages.length > 0 ? before : { ...before, messages: [createOpeningMessage(before)] };
  const { settings, task, limits, turn, findings, messages, replyProblems } = state;
  const documents = parseContextDocuments(task.metadata.context).length > 0;
  const promptContents = { documents, quotes: documents || findings.length > 0 };
  const maxTokens = Math.min(settings.maxTokens ?? Infinity, limits.tokenBudget - state.tokensSpent);
  const solverCallsLeft = limits.maxSolverCalls - state.solverCalls;
  const instructions = renderInstructions(
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
function renderPlannerTurnStatus(state: PlannerState): string {
  const { turn, limits, solverCalls } = state;
  return renderTurnStatusPrompt(
    turn,
    limits.maxTurns,
    limits.maxSolverCalls - solverCalls,
    listAllowedActions(state),
  );
}

function createOpeningMessage(state: PlannerState): ModelMessage {
  const { task, settings, findings } = state;
  const parts = [
    renderProblem(task, settings.context),
    ...(findings.length > 0 ? [renderFindings(findings)] : []),
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
