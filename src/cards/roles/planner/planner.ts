import type { ControlCard, ErrorCard, ResultCard } from "../../index.ts";
import type { DelegationRequest, Role, TaskContext, TaskOutcome } from "../role.ts";
import {
  type PlannerOptions,
  type PlannerSettings,
  resolveSettings,
  selectSubtaskDocumentContextByPolicy,
  createPlannerState,
  fillPlaceholders,
  findPartialOutcome,
  listSubtaskDependencies,
  type PlannerState,
  type Subtask,
  toSolverFinding,
} from "./planner-state.ts";
import { computeTransition, type PlannerTransition } from "./planner-transition.ts";
import { type SolverFinding, sumInputAndOutputTokens } from "../role-model.ts";
import { truncateText } from "../../../protocol/index.ts";
import { MAX_ANSWER_CHARACTERS } from "../prompts.ts";

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

/**
 * The result of a batch of subtasks. If the task was stopped, `stopped` contains the reason, and `findings`
 * contains only the replies before the stop.
 */
interface DispatchResult {
  readonly findings: readonly SolverFinding[];
  /** Number of tokens that all solver replies report, including the replies to failed attempts. */
  readonly tokensSpent: number;
  readonly stopped?: { readonly reason: unknown };
}

/**
 * Dispatches a batch of subtasks to solvers. The planner sends each subtask as soon as all its dependencies
 * have answers, so independent subtasks run in parallel. If a subtask fails, the planner does not send the
 * subtasks that depend on it. The findings are in the same order as the subtasks in the batch.
 */
export async function dispatchSubtasks(
  taskContext: TaskContext,
  state: PlannerState,
  batch: readonly Subtask[],
  forced: boolean,
): Promise<DispatchResult> {
  const ids = new Set(batch.map(({ id }) => id));
  const byId = new Map(batch.map((subtask) => [subtask.id, subtask]));
  const earlier = new Map(
    state.findings.flatMap(({ id, answer }) => (id === undefined ? [] : [[id, answer] as const])),
  );
  let tokens = 0;

  const send = async (subtask: Subtask): Promise<SolverFinding> => {
    const needed = await Promise.all(listSubtaskDependencies(subtask.task, ids).map((id) => getResult(id)));
    const missing = needed.find(({ status }) => status === "error" || status === "partial");
    if (missing) {
      const answer = `not sent, because ${missing.id} has no answer`;
      return { id: subtask.id, subtask: subtask.task, status: "error", answer };
    }
    const answers = [...earlier, ...needed.map(({ id = "", answer }) => [id, answer] as const)];
    const truncatedAnswers = new Map(
      answers.map(([id, answer]) => [id, truncateText(answer.trim(), MAX_ANSWER_CHARACTERS)]),
    );
    const task = truncateText(fillPlaceholders(subtask.task, truncatedAnswers), MAX_SUBTASK_CHARACTERS);
    const { context, titles } = selectSubtaskDocumentContextByPolicy(
      state.settings.context,
      { ...subtask, task },
      state.task,
    );
    const reply = await delegateWithRetry(taskContext, state.settings, (spent) => (tokens += spent), {
      to: state.settings.solver,
      task,
      turn: state.turn,
      ...(context && { context }),
      ...(forced && { forced }),
    });
    return toSolverFinding({ ...subtask, task }, reply, titles);
  };

  // Each subtask is sent once, when it is first needed. A validated batch has no cycles.
  const results = new Map<string, Promise<SolverFinding>>();
  const getResult = (id: string): Promise<SolverFinding> => {
    const known = results.get(id);
    if (known) return known;
    const subtask = byId.get(id);
    if (!subtask) throw new Error(`The batch has no subtask ${id}.`);
    // The promise is stored before the work starts, so that other subtasks can wait for it.
    const result = Promise.resolve().then(() => send(subtask));
    results.set(id, result);
    return result;
  };

  const settled = await Promise.allSettled(batch.map(({ id }) => getResult(id)));
  const findings = settled.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const failed = settled.find((outcome) => outcome.status === "rejected");
  return { findings, tokensSpent: tokens, ...(failed && { stopped: { reason: failed.reason } }) };
}

/** Sends a task until an attempt succeeds or no retry remains. Each attempt sends a separate task card. */
async function delegateWithRetry(
  taskContext: TaskContext,
  { retries }: PlannerSettings,
  addTokens: (tokens: number) => void,
  task: DelegationRequest,
): Promise<ResultCard | ErrorCard> {
  for (let attempt = 1; ; attempt++) {
    const reply = await taskContext.delegate(attempt > 1 ? { ...task, attempt } : task);
    const { usage, tokens } = reply.metadata;
    addTokens(usage ? sumInputAndOutputTokens(usage) : (tokens ?? 0));
    const errorType =
      reply.message_type === "error"
        ? reply.metadata.error_type
        : reply.metadata.status === "error"
          ? "solver_failed"
          : undefined;
    if (errorType === undefined) return reply;
    const retryable = reply.message_type === "error" && reply.metadata.retryable === true;
    if (attempt > (retries[errorType] ?? (retryable ? 1 : 0))) return reply;
  }
}

/**
 * Maximum number of characters in the text of a subtask. A task card is limited to 256 KiB, and each
 * character has at most three bytes.
 */
const MAX_SUBTASK_CHARACTERS = 64_000;
