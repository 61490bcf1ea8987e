import {
  type MessageCard,
  type CardProtocol,
  type CardTokenUsage,
  createCardProtocol,
  type ErrorCard,
  type ResultCard,
  type TaskCard,
} from "../index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import {
  addUsage,
  type ModelReply,
  type ModelRequest,
  type RoleModel,
  sumInputAndOutputTokens,
} from "./role-model.ts";
import { BASELINE_ANSWERER_CARD_ROUTES } from "./solver.ts";
import { untilAborted } from "../../client/index.ts";
import type { TaskOutcome, QueryRequest, DelegationRequest, TaskContext, Role } from "./role.ts";

/** Handles a delegated task: another role with its model, or a function. */
export type DelegateStub =
  | { readonly role: Role; readonly model: RoleModel }
  | ((task: DelegationRequest, signal: AbortSignal) => TaskOutcome | Promise<TaskOutcome>);

export interface FakeTaskContextOptions {
  readonly task: string | TaskCard;
  readonly context?: JsonObject;
  readonly dataset?: string;
  readonly sampleId?: string;
  readonly model: RoleModel;
  readonly delegates?: Readonly<Record<string, DelegateStub>>;
}

/**
 * Log of one in-process run: every card and model call in order. Ids count up, and the clock does not
 * advance.
 */
export class InMemoryTestRunLog {
  readonly cards: MessageCard[] = [];
  readonly modelRequests: ModelRequest[] = [];
  readonly usages: CardTokenUsage[] = [];
  readonly unusableReplies: string[] = [];
  #lastId = 0;
  readonly protocol: CardProtocol = createCardProtocol({
    routes: BASELINE_ANSWERER_CARD_ROUTES,
    newId: () => `c${++this.#lastId}`,
    now: () => 0,
  });

  recordCard<C extends MessageCard>(card: C): C {
    this.cards.push(card);
    return card;
  }

  /** Returns all tasks that were sent to `role`. */
  listTasksTo(role: string): TaskCard[] {
    return this.cards.filter((card) => card.message_type === "task" && card.recipient === role) as TaskCard[];
  }
}

/** A task context in this process that behaves like `RoleExecution` without a network. */
export class FakeTaskContext implements TaskContext {
  readonly task: TaskCard;
  readonly runLog: InMemoryTestRunLog;
  readonly abortController: AbortController = new AbortController();
  readonly signal: AbortSignal;
  readonly #model: RoleModel;
  readonly #roleName: string;
  readonly #delegates: Readonly<Record<string, DelegateStub>>;
  #unreportedUsage: CardTokenUsage | undefined;

  constructor(
    name: string,
    task: TaskCard,
    model: RoleModel,
    delegates: Readonly<Record<string, DelegateStub>>,
    run: InMemoryTestRunLog,
  ) {
    this.signal = this.abortController.signal;
    this.task = task;
    this.runLog = run;
    this.#roleName = name;
    this.#model = model;
    this.#delegates = delegates;
  }

  async callModel(modelRequest: Omit<ModelRequest, "role" | "signal">): Promise<ModelReply> {
    this.signal.throwIfAborted();
    const request: ModelRequest = { ...modelRequest, role: this.#roleName, signal: this.signal };
    this.runLog.modelRequests.push(request);
    const reply = await this.#model.complete(request);
    if (reply.usage) {
      this.runLog.usages.push(reply.usage);
      this.#unreportedUsage = addUsage(this.#unreportedUsage, reply.usage);
    }
    return reply;
  }

  reportUnusableReply(reason: string): void {
    this.runLog.unusableReplies.push(reason);
  }

  async delegate(request: DelegationRequest): Promise<ResultCard | ErrorCard> {
    this.signal.throwIfAborted();
    const { to, task, context, turn, forced, attempt, metadata } = request;
    const { sample_id, dataset } = this.task.metadata;
    const card = this.runLog.recordCard(
      this.runLog.protocol.createTaskCard({
        from: this.#roleName as "planner",
        to: to as "solver",
        task,
        ...(context && { context }),
        metadata: {
          ...(sample_id !== undefined && { sample_id }),
          ...(dataset !== undefined && { dataset }),
          ...(turn !== undefined && { turn }),
          ...(forced && { forced }),
          ...(attempt !== undefined && { attempt }),
          ...this.#takeUnreportedUsage(),
          ...metadata,
        },
      }),
    );
    const delegate = this.#delegates[to];
    if (!delegate) throw new Error(`no delegate has the name ${to}`);
    if (typeof delegate === "function") {
      const outcome = (async (): Promise<TaskOutcome> => delegate(request, this.signal))();
      return this.#createReply(to, card, await untilAborted(outcome, this.signal), {});
    }
    const taskContext = new FakeTaskContext(to, card, delegate.model, {}, this.runLog);
    const reply = performTestRoleTaskCatchingErrors(delegate.role, taskContext).then((outcome) =>
      this.#createReply(to, card, outcome, taskContext.#takeUnreportedUsage()),
    );
    return untilAborted(reply, this.signal);
  }

  sendQuery(query: QueryRequest): Promise<ResultCard> {
    throw new Error(`no role answers ${query.query}`);
  }

  /** Stops the role with a control card, as a controller does. */
  stop(parameters?: JsonObject): void {
    const card = { from: "controller", to: "planner", action: "stop" } as const;
    const { protocol } = this.runLog;
    this.abortController.abort(protocol.createControlCard({ ...card, ...(parameters && { parameters }) }));
  }

  /** Creates the reply to the task of this context. */
  createFinalReply(answer: TaskOutcome): ResultCard | ErrorCard {
    return this.#createReply(this.#roleName, this.task, answer, this.#takeUnreportedUsage());
  }

  #createReply(from: string, task: TaskCard, answer: TaskOutcome, usage: object): ResultCard | ErrorCard {
    const participants = { from: from as "solver", to: task.sender as "planner" };
    const replyMetadata = { in_reply_to: task.metadata.card_id ?? "", ...usage };
    if ("error" in answer) {
      const { error, errorType, retryable } = answer;
      const metadata = { ...replyMetadata, ...(retryable !== undefined && { retryable }) };
      return this.runLog.recordCard(
        this.runLog.protocol.createErrorCard({ ...participants, error, errorType, metadata }),
      );
    }
    const { result, status, metadata } = answer;
    return this.runLog.recordCard(
      this.runLog.protocol.createResultCard({
        ...participants,
        result,
        status,
        metadata: { ...metadata, ...replyMetadata },
      }),
    );
  }

  #takeUnreportedUsage(): { usage?: CardTokenUsage; tokens?: number } {
    const usage = this.#unreportedUsage;
    this.#unreportedUsage = undefined;
    return usage ? { usage, tokens: sumInputAndOutputTokens(usage) } : {};
  }
}

/** Creates a task context for a role and its task. */
export function createFakeTaskContext(role: Role, options: FakeTaskContextOptions): FakeTaskContext {
  const run = new InMemoryTestRunLog();
  const task =
    typeof options.task === "string"
      ? run.protocol.createTaskCard({
          from: "controller",
          to: role.name as "planner",
          task: options.task,
          ...(options.context && { context: options.context }),
          metadata: {
            ...(options.dataset !== undefined && { dataset: options.dataset }),
            ...(options.sampleId !== undefined && { sample_id: options.sampleId }),
          },
        })
      : options.task;
  return new FakeTaskContext(role.name, run.recordCard(task), options.model, options.delegates ?? {}, run);
}

/** Runs a role on one task and returns the reply. */
export async function runRoleInFakeTaskContext(
  role: Role,
  options: FakeTaskContextOptions,
): Promise<{ reply: ResultCard | ErrorCard; run: InMemoryTestRunLog }> {
  const taskContext = createFakeTaskContext(role, options);
  return {
    reply: taskContext.createFinalReply(await performTestRoleTaskCatchingErrors(role, taskContext)),
    run: taskContext.runLog,
  };
}

/** Runs a role. An exception becomes an error outcome, as in `RoleExecution`. */
export async function performTestRoleTaskCatchingErrors(
  role: Role,
  taskContext: FakeTaskContext,
): Promise<TaskOutcome> {
  try {
    return await role.performTask(taskContext);
  } catch (error) {
    if (taskContext.signal.aborted) return { error: "stopped", errorType: "cancelled" };
    return { error: error instanceof Error ? error.message : String(error), errorType: "model_error" };
  }
}
