import type { ErrorCard, ResultCard } from "../../cards/index.ts";
import type { SolverFinding } from "../role-model.ts";
import { truncateText } from "../../cards/index.ts";
import { MAX_ANSWER_CHARACTERS } from "../prompt-quote.ts";
import type { DelegationRequest, TaskContext } from "../role.ts";
import { buildSubtaskContext } from "./context-policy.ts";
import type { PlannerSettings } from "./planner-options.ts";
import { fillPlaceholders, type Subtask, listDependencies } from "./placeholders.ts";
import { toFinding, type PlannerState } from "./planner-state.ts";

/** What came of a batch. Where the desk was closed meanwhile, `stopped` has the reason, and only what was there is there. */
export interface DispatchResult {
  readonly findings: readonly SolverFinding[];
  /** Of the replies, also those to tries that failed. */
  readonly tokensSpent: number;
  readonly stopped?: { readonly reason: unknown };
}

/**
 * Gives out a batch: each subtask as soon as all that it waits for is answered, so that independent ones are on their
 * way at once. One that waits for a failure is not sent. Findings are in the order of the batch.
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
    const needed = await Promise.all(listDependencies(subtask.task, ids).map((id) => getResult(id)));
    const missing = needed.find(({ status }) => status === "error" || status === "partial");
    if (missing) {
      const answer = `not tried, because nothing came of ${missing.id}`;
      return { id: subtask.id, subtask: subtask.task, status: "error", answer };
    }
    const answers = [...earlier, ...needed.map(({ id = "", answer }) => [id, answer] as const)];
    const truncatedAnswers = new Map(
      answers.map(([id, answer]) => [id, truncateText(answer.trim(), MAX_ANSWER_CHARACTERS)]),
    );
    const task = truncateText(fillPlaceholders(subtask.task, truncatedAnswers), MAX_SUBTASK_CHARACTERS);
    const { context, titles } = buildSubtaskContext(state.settings.context, { ...subtask, task }, state.task);
    const reply = await delegateWithRetry(taskContext, state.settings, (spent) => (tokens += spent), {
      to: state.settings.solver,
      task,
      turn: state.turn,
      ...(context && { context }),
      ...(forced && { forced }),
    });
    return toFinding({ ...subtask, task }, reply, titles);
  };

  // Each is sent once, by whoever needs it first; a batch has no circles.
  const results = new Map<string, Promise<SolverFinding>>();
  const getResult = (id: string): Promise<SolverFinding> => {
    const known = results.get(id);
    if (known) return known;
    const subtask = byId.get(id);
    if (!subtask) throw new Error(`There is no subtask ${id}.`);
    // Said to be there before it is begun, for others to wait for.
    const result = Promise.resolve().then(() => send(subtask));
    results.set(id, result);
    return result;
  };

  const settled = await Promise.allSettled(batch.map(({ id }) => getResult(id)));
  const findings = settled.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
  const failed = settled.find((outcome) => outcome.status === "rejected");
  return { findings, tokensSpent: tokens, ...(failed && { stopped: { reason: failed.reason } }) };
}

/** Sends a task until it is answered or the error is not one to try again after. Every try is a card. */
async function delegateWithRetry(
  taskContext: TaskContext,
  { retries }: PlannerSettings,
  addTokens: (tokens: number) => void,
  task: DelegationRequest,
): Promise<ResultCard | ErrorCard> {
  for (let attempt = 1; ; attempt++) {
    const reply = await taskContext.delegate(attempt > 1 ? { ...task, attempt } : task);
    const { usage, tokens } = reply.metadata;
    addTokens(usage ? usage.input_tokens + usage.output_tokens : (tokens ?? 0));
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

/** In characters. A card takes 256 KiB, and one of these at most three bytes. */
const MAX_SUBTASK_CHARACTERS = 64_000;
