import { defineOptionNames, omitUndefined } from "../../base/usage-checks/index.ts";
import { A2AError, type JsonObject, truncateText } from "../../protocol/index.ts";
import type { ControlCard } from "../index.ts";
import {
  type ContextDocument,
  getTaskDatasetName,
  parseContextDocuments,
  selectContextDocumentsByName,
  type SubtaskContextPolicy,
} from "./context-documents.ts";
import {
  buildActionSchema,
  parseAction,
  PLANNER_ACTION_NAMES,
  type PlannerAction,
  type PlannerActionName,
} from "./planner-action.ts";
import {
  renderFindings,
  renderInstructions,
  renderReprompt,
  renderTaskPrompt,
  renderTurnStatusPrompt,
} from "./prompts.ts";
import {
  findReplyErrorType,
  type ModelMessage,
  type ModelReply,
  type SolverFinding,
  sumInputAndOutputTokens,
} from "./role-model.ts";
import type { Role, TaskContext, TaskOutcome } from "./role.ts";

/** Options for `createPlanner`. */
export interface PlannerOptions {
  /** Name of the planner role on message cards. Default: `planner`. */
  readonly name?: string;
  /** Name of the role that receives the subtasks. Default: `solver`. */
  readonly solver?: string;
  /**
   * Policy that applies when the model answers before any solver call. `force` repeats the model request
   * once, and then sends the entire problem to the solver. `reprompt` repeats the model request once, and
   * then accepts the answer. `allow` accepts the answer. Default: `force`.
   */
  readonly forceFirstSolver?: "force" | "reprompt" | "allow";
  /**
   * Content of each prompt. With `facts`, a prompt contains the problem and the solver replies. With
   * `history`, a prompt contains the complete conversation. In `history` mode, the total number of prompt
   * tokens grows quadratically with the number of turns. Default: `facts`.
   */
  readonly transcript?: "facts" | "history";
  /** Policy that selects the part of the task context that a solver receives. Default: `routed`. */
  readonly context?: SubtaskContextPolicy;
  /**
   * Maximum number of planner turns. The model makes one decision in each turn. In the last turn, the
   * planner's model can only answer. If the planner repeats a model request, the repetition does not count as
   * a new turn. The default number of turns is 3 for `gsm8k` tasks and 5 for all other tasks.
   */
  readonly maxTurns?: number;
  /**
   * Maximum number of input and output tokens that the planner and its solvers may use. When the token budget is
   * spent, the planner neither calls its model nor sends subtasks. A reply of the planner's model has at most as many
   * tokens as the budget has left. Only the prompt of the last call and the answers of solvers can exceed the budget.
   * Default: no limit.
   */
  readonly tokenBudget?: number;
  /** Maximum number of tokens in one model reply. By default, the model's own limit applies. */
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly seed?: number;
  /**
   * First lines of the system prompt, which describe the work of the planner. The list of actions follows. Default: the
   * instructions of the package.
   */
  readonly instructions?: string;
}

const assertKnownOptions = defineOptionNames<PlannerOptions>()(
  "createPlanner",
  "context forceFirstSolver instructions maxTokens maxTurns name seed solver temperature tokenBudget transcript",
);

const DEFAULT_MAX_TURNS = 5;
const DEFAULT_MAX_TURNS_BY_DATASET: ReadonlyMap<string, number> = new Map([["gsm8k", 3]]);
/**
 * Maximum number of characters in the text of a subtask. A task card is limited to 256 KiB, and each
 * character has at most three bytes.
 */
const MAX_SUBTASK_CHARACTERS = 64_000;

/**
 * Creates a planner role that splits a problem into subtasks, sends the subtasks to a solver one after another, and
 * derives the final answer. The planner's model chooses the actions. A subtask is sent again once after a `retryable`
 * error. Throws `INVALID_PARAMS` if the limits are too low for any task.
 *
 * The planner's outcome is `completed`, `partial`, or an error. The outcome is `partial` if
 * a limit or a stop ended the work before the final answer. In a partial result, `metadata.error_type` states
 * which limit or stop ended the work. The outcome
 * is an error if the model chose no valid action in two attempts: `truncated` or `filtered` if the model stopped
 * early, `placeholder` if the action repeats a placeholder of the prompt, and otherwise `invalid_action`.
 */
export function createPlanner(options: PlannerOptions = {}): Role {
  assertKnownOptions(options);
  const { maxTurns = DEFAULT_MAX_TURNS, tokenBudget = Infinity, forceFirstSolver } = options;
  const least = forceFirstSolver === "allow" ? 1 : 2;
  if (!Number.isSafeInteger(maxTurns) || maxTurns < least)
    throw createOptionsError(
      `maxTurns is ${maxTurns}. Set it to an integer of at least ${least}` +
        (maxTurns === 1 ? ', because the answer requires a turn, or set forceFirstSolver to "allow"' : ""),
    );
  if (!(tokenBudget >= 1)) throw createOptionsError(`tokenBudget is ${tokenBudget}. Set it to at least 1`);
  return {
    name: options.name ?? "planner",
    description: "Splits a problem into subtasks, sends them to a solver, and answers from the findings.",
    performTask: (taskContext) => new Planning(taskContext, options).run(),
  };
}

function createOptionsError(problem: string): A2AError {
  return new A2AError("INVALID_PARAMS", `Invalid planner options: ${problem}.`);
}

/** The work of a planner on one task. */
class Planning {
  readonly #taskContext: TaskContext;
  readonly #options: PlannerOptions;
  readonly #policy: SubtaskContextPolicy;
  readonly #documents: readonly ContextDocument[];
  readonly #maxTurns: number;
  readonly #tokenBudget: number;
  readonly #findings: SolverFinding[] = [];
  #turn = 1;
  #tokens = 0;
  /** Conversation with the model, without the instructions. With `facts`, it starts at the current turn. */
  #messages: ModelMessage[] = [];

  constructor(taskContext: TaskContext, options: PlannerOptions) {
    const { task } = taskContext;
    const turns = DEFAULT_MAX_TURNS_BY_DATASET.get(getTaskDatasetName(task)) ?? DEFAULT_MAX_TURNS;
    const { maxTurns = turns, tokenBudget = Infinity, context = "routed" } = options;
    this.#taskContext = taskContext;
    this.#options = options;
    this.#policy = context;
    this.#documents = parseContextDocuments(task.metadata.context);
    this.#maxTurns = maxTurns;
    this.#tokenBudget = tokenBudget;
  }

  async run(): Promise<TaskOutcome> {
    const { signal } = this.#taskContext;
    try {
      for (; ; this.#turn++) {
        const outcome = await this.#takeTurn();
        if (outcome) return outcome;
      }
    } catch (error) {
      // The requester may still want a partial result of a stopped planner.
      if (!signal.aborted || this.#latestAnswer === undefined) throw error;
      return this.#createPartialOutcome(getTaskAbortCause(signal.reason));
    }
  }

  /** Returns the outcome, or `undefined` after a subtask, which ends the turn. */
  async #takeTurn(): Promise<TaskOutcome | undefined> {
    const { forceFirstSolver = "force" } = this.#options;
    const isLastTurn = this.#turn >= this.#maxTurns;
    const isAnswerEarly = forceFirstSolver !== "allow" && this.#findings.length === 0 && !isLastTurn;
    const actions = PLANNER_ACTION_NAMES.filter(
      (name) => !(name === "call_solver" ? isLastTurn : isAnswerEarly),
    );
    this.#startTurn(isAnswerEarly);
    let wasInvalid = false;
    let wasEarly = false;
    for (;;) {
      if (this.#tokens >= this.#tokenBudget) return this.#createPartialOutcome("token_budget");
      const reply = await this.#callModel(actions, wasInvalid || wasEarly);
      const parsed = this.#parseReply(reply, isLastTurn);
      if ("problem" in parsed) {
        const { problem, errorType } = parsed;
        this.#reject(reply, problem);
        if (!wasInvalid) {
          wasInvalid = true;
          continue;
        }
        const error = `The planner's model returned no valid action in turn ${this.#turn}, even after a second request: ${problem}.`;
        return { error, errorType };
      }
      if (parsed.action === "final_answer") {
        if (!isAnswerEarly || (wasEarly && forceFirstSolver === "reprompt"))
          return { result: parsed.answer, status: "completed", metadata: { turn: this.#turn } };
        if (!wasEarly) {
          wasEarly = true;
          this.#reject(reply, "no solver was called yet, but the answer must be based on a solver's reply");
          continue;
        }
      } else {
        if (isLastTurn) return this.#createPartialOutcome("turn_limit");
        if (this.#tokens >= this.#tokenBudget) return this.#createPartialOutcome("token_budget");
      }
      this.#messages.push({ role: "assistant", text: reply.text });
      if (parsed.action === "call_solver") await this.#delegate(parsed.subtask, parsed.documents);
      else {
        const ids = this.#documents.map(({ id }) => id);
        await this.#delegate(this.#taskContext.task.content, ids, true);
      }
      return undefined;
    }
  }

  #startTurn(isAnswerEarly: boolean): void {
    const keepsHistory = this.#options.transcript === "history" && this.#turn > 1;
    const first = keepsHistory ? this.#findings.length - 1 : 0;
    const parts = [
      // The planner sees only titles, unless the solver receives no documents.
      ...(keepsHistory ? [] : [renderTaskPrompt("Problem", this.#taskContext.task, this.#policy !== "none")]),
      ...(this.#findings.length > 0 ? [renderFindings(this.#findings.slice(first), first + 1)] : []),
      renderTurnStatusPrompt(this.#turn, this.#maxTurns, isAnswerEarly),
    ];
    const message: ModelMessage = { role: "user", text: parts.join("\n\n") };
    this.#messages = keepsHistory ? [...this.#messages, message] : [message];
  }

  async #callModel(actions: readonly PlannerActionName[], isRepeated: boolean): Promise<ModelReply> {
    const { maxTokens: maxReplyTokens = Infinity, temperature, seed, instructions } = this.#options;
    const hasDocuments = this.#documents.length > 0;
    const maxTokens = Math.min(maxReplyTokens, this.#tokenBudget - this.#tokens);
    const quotes = hasDocuments || this.#findings.length > 0;
    const reply = await this.#taskContext.callModel({
      input: {
        kind: "plan",
        task: this.#taskContext.task,
        findings: [...this.#findings],
        turn: this.#turn,
        maxTurns: this.#maxTurns,
        ...(isRepeated && { rejectionReason: this.#messages.at(-1)?.text ?? "" }),
      },
      // The constant part comes first, so that providers can cache it.
      messages: [
        { role: "system", text: renderInstructions(this.#policy, hasDocuments, quotes, instructions) },
        ...this.#messages,
      ],
      schema: buildActionSchema(actions, hasDocuments && this.#policy === "routed"),
      ...(Number.isFinite(maxTokens) && { maxTokens }),
      ...omitUndefined({ temperature, seed }),
    });
    this.#tokens += sumInputAndOutputTokens(reply.usage);
    return reply;
  }

  #parseReply(
    { text, finish }: ModelReply,
    isLastTurn: boolean,
  ): PlannerAction | { readonly problem: string; readonly errorType: string } {
    const parsed = parseAction(text);
    if ("problem" in parsed) {
      const cause = finish === "stop" ? "" : ` (the model stopped with ${finish})`;
      const errorType =
        findReplyErrorType(finish) ?? (parsed.isPlaceholder ? "placeholder" : "invalid_action");
      return { problem: `${parsed.problem}${cause}`, errorType };
    }
    const { action } = parsed;
    if (action.action === "final_answer" || isLastTurn || this.#policy !== "routed") return action;
    const { context } = this.#taskContext.task.metadata;
    const [unknown] =
      this.#documents.length > 0 ? selectContextDocumentsByName(context, action.documents ?? []).unknown : [];
    if (unknown === undefined) return action;
    return { problem: `there is no document ${JSON.stringify(unknown)}`, errorType: "invalid_action" };
  }

  /** Requests another reply of the model. */
  #reject(reply: ModelReply, problem: string): void {
    this.#taskContext.reportUnusableReply(problem, reply);
    this.#messages.push(
      { role: "assistant", text: reply.text },
      { role: "user", text: renderReprompt(problem) },
    );
  }

  /** Sends a subtask. Each attempt sends a separate task card. */
  async #delegate(subtask: string, documents: readonly string[] = [], forced?: true): Promise<void> {
    const task = truncateText(subtask, MAX_SUBTASK_CHARACTERS);
    const { context, titles } = this.#selectContext(documents);
    const request = {
      to: this.#options.solver ?? "solver",
      task,
      turn: this.#turn,
      ...(context && { context }),
      ...(forced && { forced }),
    };
    for (let attempt = 1; ; attempt++) {
      const reply = await this.#taskContext.delegate(attempt > 1 ? { ...request, attempt } : request);
      const { message_type, metadata, content } = reply;
      this.#tokens += metadata.usage ? sumInputAndOutputTokens(metadata.usage) : (metadata.tokens ?? 0);
      if (message_type === "error" && metadata.retryable === true && attempt === 1) continue;
      const status = message_type === "error" ? "error" : metadata.status;
      this.#findings.push({
        subtask: task,
        status,
        answer: content,
        ...(titles && { documentTitles: titles }),
      });
      return;
    }
  }

  #selectContext(documents: readonly string[]): {
    readonly context?: JsonObject;
    readonly titles?: string[];
  } {
    const { context } = this.#taskContext.task.metadata;
    if (this.#policy === "full" && context)
      return this.#documents.length > 0
        ? { context, titles: this.#documents.map(({ title }) => title) }
        : { context };
    if (this.#policy !== "routed") return {};
    const { context: selected, titles } = selectContextDocumentsByName(context, documents);
    return titles.length > 0 ? { context: selected, titles } : {};
  }

  get #latestAnswer(): string | undefined {
    return this.#findings.findLast(({ status }) => status !== "error")?.answer;
  }

  /** Creates a `partial` outcome. `error_type` names the limit or the stop that ended the work. */
  #createPartialOutcome(error_type: string): TaskOutcome {
    return {
      result: this.#latestAnswer ?? "",
      status: "partial",
      metadata: { turn: this.#turn, error_type },
    };
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
