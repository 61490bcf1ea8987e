import { defineOptionNames, omitUndefined } from "../../base/usage-checks/index.ts";
import {
  CONTROLLER,
  type ErrorCard,
  generateFlowDiagram,
  type MessageCard,
  PLANNER,
  type QueryCard,
  type ResultCard,
  type TaskCard,
} from "../index.ts";
import { getText, type JsonObject, type Task } from "../../protocol/index.ts";
import { CardJournal, createQueryAnswerCard, getQueryAnswerOrReportError } from "./a2a/card-journal.ts";
import { deliverCard, prepareDelivery } from "./a2a/card-delivery.ts";
import {
  createRoleRuntime,
  formatError,
  type RoleRuntimeOptions,
  systemClock,
  type TaskUpdateEvent,
  type TaskUpdateState,
  toCancellationAbortReason,
  formatCardText,
} from "./a2a/role-runtime.ts";
import type { QueryAnswer } from "./role.ts";
import type { Agent, AgentDescription, AgentEvent, Caller, Run, SessionStore } from "../../engine/index.ts";
import { DurableTurn, findWaitingState } from "./a2a/durable-turn.ts";

/** Options for `createController`. */
export interface ControllerOptions extends RoleRuntimeOptions {
  /**
   * Callback that answers queries from the role that solves the problem. If there is no callback, queries get
   * no answer, and the role continues its work.
   */
  readonly answerQuery?: (query: QueryCard) => QueryAnswer | undefined | Promise<QueryAnswer | undefined>;
}

const assertKnownOptions = defineOptionNames<ControllerOptions>()(
  "createController",
  "answerQuery clock connectOptions deadlineMs graceMs newId observer protocol recorder roleTargets",
);

/** A problem to solve, with its options. */
export interface ControllerSolveRequest {
  readonly task: string;
  /** Name of the role that solves the problem. Default: `planner`. */
  readonly to?: string;
  /** Context of the task card, for example source documents. */
  readonly context?: JsonObject;
  readonly dataset?: string;
  readonly sampleId?: string;
  /** Id of the experiment run. By default, the controller creates a new id. */
  readonly runId?: string;
  /** Id of the A2A context for all tasks of the problem. By default, the controller creates a new id. */
  readonly contextId?: string;
  /**
   * Signal that stops the work on the problem. If the abort reason is a control card, the controller forwards
   * the card's parameters to the role.
   */
  readonly signal?: AbortSignal;
  /**
   * Time in milliseconds after which the controller stops the work on the problem. Default: `deadlineMs` of
   * the controller.
   */
  readonly deadlineMs?: number;
  /**
   * With `full`, every role relays all message cards that it sends or receives to the controller. Relayed
   * message cards appear in `cards` of the `Solution`. Default: `none`.
   */
  readonly relay?: "none" | "full";
  /** W3C `traceparent` of the problem's trace. By default, the problem starts a new trace. */
  readonly traceparent?: string;
  /** Callback that answers queries about the problem. Default: `answerQuery` of the controller. */
  readonly answerQuery?: ControllerOptions["answerQuery"];
  /**
   * Callback that receives every message card that the controller sends or receives, including relayed cards.
   */
  readonly onCard?: (card: MessageCard) => void;
  /**
   * Callback that receives the id of the A2A task when the task is created.
   */
  readonly onTaskCreated?: (taskId: string) => void;
  /**
   * Result of `prepare` for this problem. A process that stores the result before the call can call `solve` again after
   * a restart, and continues with the same tasks instead of new ones.
   */
  readonly prepared?: PreparedProblem;
}

/** A problem with its ids, as JSON. See `Controller.prepare`. */
export interface PreparedProblem {
  readonly card: TaskCard;
  /** W3C `traceparent` of the A2A message. */
  readonly traceparent: string;
  /** Time in milliseconds since 1970 at which the deadline begins. */
  readonly createdAt: number;
  /** Id of the A2A context of all tasks of the problem. */
  readonly contextId: string;
  /** Id of the role's A2A task, if it is known. If the signal is aborted, `solve` cancels the task. */
  readonly taskId?: string | undefined;
}

/** The result of `Controller.solve`. */
export interface ControllerSolveResult {
  /** Final reply of the solving role, either a result card or an error card. */
  readonly reply: ResultCard | ErrorCard;
  /** All message cards that the controller sent or received, in order. */
  readonly cards: readonly MessageCard[];
  /** Id of the A2A task of the solving role, or `undefined` if no task was created. */
  readonly taskId: string | undefined;
}

/** Controller that sends problems to roles, and stops the roles. */
export interface Controller {
  /**
   * Creates the task card and the ids of a problem, without sending the card. Throws `INVALID_PARAMS` if the problem
   * cannot be converted to a valid task card.
   */
  prepare(problem: ControllerSolveRequest): PreparedProblem;
  /**
   * Sends a problem to a role and resolves with the role's reply. If the role or the transport fails, the
   * promise resolves with an error card. Rejects with `INVALID_PARAMS` only if the problem cannot be
   * converted to a valid task card.
   */
  solve(problem: ControllerSolveRequest): Promise<ControllerSolveResult>;
}

/** Creates a controller that sends problems to roles and stops work on a problem when its deadline passes. */
export function createController(options: ControllerOptions): Controller {
  assertKnownOptions(options);
  const runtime = createRoleRuntime(CONTROLLER, options);
  const createProblemCard = (problem: ControllerSolveRequest): TaskCard => {
    const { task, to = PLANNER, context, dataset, sampleId, runId } = problem;
    const metadata = {
      card_id: runtime.newId(),
      run_id: runId ?? runtime.newId(),
      ...omitUndefined({ sample_id: sampleId, dataset }),
    };
    const card = { from: CONTROLLER, to, task, metadata };
    return runtime.protocol.createTaskCard(context ? { ...card, context } : card);
  };

  const createJournal = (
    card: TaskCard,
    { relay = "none", traceparent }: ControllerSolveRequest,
    listener?: ConstructorParameters<typeof CardJournal>[3],
  ): CardJournal =>
    new CardJournal(runtime, card, { relay, hops: 0, traceparent, runId: card.metadata.run_id }, listener);

  const prepare: Controller["prepare"] = (problem) => {
    const card = createProblemCard(problem);
    const contextId = problem.contextId ?? runtime.newId();
    return { ...prepareDelivery(card, createJournal(card, problem)), contextId };
  };

  return {
    prepare,
    async solve(problem) {
      const { onCard, onTaskCreated, signal = new AbortController().signal } = problem;
      const { answerQuery = options.answerQuery } = problem;
      const seen: MessageCard[] = [];
      const recordExchange = (card: MessageCard): void => {
        seen.push(card);
        onCard?.(card);
      };
      const prepared = problem.prepared ?? prepare(problem);
      const { card } = prepared;
      const journal = createJournal(card, problem, { onCard: recordExchange });
      let createdTaskId: string | undefined;
      const reply = await deliverCard({
        ...prepared,
        journal,
        signal,
        deadlineMs: problem.deadlineMs ?? runtime.deadlineMs,
        answerQuery: async (query) =>
          createQueryAnswerCard(
            query,
            await getQueryAnswerOrReportError(() => answerQuery?.(query), journal),
            journal,
          ),
        onTaskCreated(taskId) {
          createdTaskId = taskId;
          onTaskCreated?.(taskId);
        },
      });
      return { reply, cards: seen, taskId: createdTaskId };
    },
  };
}

/** Options for `createControllerAgent`. */
export interface ControllerAgentOptions extends Pick<
  ControllerSolveRequest,
  "to" | "dataset" | "context" | "deadlineMs"
> {
  /** Controller that sends the user's problems to roles. */
  readonly controller: Controller;
  /** Name of the A2A agent. Default: `controller`. */
  readonly name?: string;
  readonly description?: string;
}

const assertKnownControllerAgentOptions = defineOptionNames<ControllerAgentOptions>()(
  "createControllerAgent",
  "context controller dataset deadlineMs description name to",
);

/**
 * Creates an A2A agent that passes problems from users to a controller. The agent treats each plain text
 * message as a problem. For each message card between the roles, the agent reports one line of text as
 * progress. The artifact `answer` contains the final answer, and the artifact `flow` contains a diagram of
 * the message cards. The agent forwards queries from the roles to the user. After a restart, the agent continues with
 * the running tasks of the roles.
 */
export function createControllerAgent(options: ControllerAgentOptions): Agent {
  assertKnownControllerAgentOptions(options);
  const { name = "controller", description = "Solves problems with a planner and its solvers." } = options;
  let store: SessionStore | undefined;
  return {
    afterRestart: "resume",
    describe: (): AgentDescription => ({
      name,
      description,
      skills: [{ id: "solve", name: "Solve", description, tags: ["cards", "solve"] }],
    }),
    useStore: (served) => void (store = served),
    onTaskCanceled(task: Task, _caller: Caller, metadata: JsonObject): void {
      const { problem } = (findWaitingState(task)?.question ?? {}) as Partial<OpenQuestion>;
      const signal = AbortSignal.abort(toCancellationAbortReason(metadata));
      if (problem) void options.controller.solve({ ...problem, signal });
    },
    async *execute(run: Run): AsyncGenerator<AgentEvent, void, undefined> {
      const turn = new DurableTurn(run, systemClock, store);
      const stop = new AbortController();
      yield* turn.stream(
        () => solve(turn, options, stop.signal),
        (reason) => stop.abort(reason),
      );
    },
  };
}

/** State of a problem that waits for an answer of the user. */
interface OpenQuestion {
  /** Key of the step that receives the answer. */
  readonly answerKey: string;
  readonly problem: ControllerSolveRequest;
}

async function solve(turn: DurableTurn, options: ControllerAgentOptions, signal: AbortSignal): Promise<void> {
  const { to, dataset, context, deadlineMs, controller } = options;
  const { contextId, message, task, traceparent } = turn.run;
  const [request = message] = task.history ?? [];
  const problem: ControllerSolveRequest = {
    ...omitUndefined({ to, dataset, context, deadlineMs, traceparent }),
    task: getText(request.parts),
    contextId,
    relay: "full",
  };
  const { answerKey } = (turn.question ?? {}) as Partial<OpenQuestion>;
  if (answerKey !== undefined) await turn.once(answerKey, () => getText(message.parts));
  try {
    let prepared = await turn.once("problem", () => controller.prepare(problem));
    const { reply, cards } = await controller.solve({
      ...problem,
      prepared,
      signal,
      onCard: (card) => turn.emit(createStatusUpdate("TASK_STATE_WORKING", formatCardLine(card), card)),
      onTaskCreated: (taskId) => void (prepared = { ...prepared, taskId }),
      async answerQuery(query) {
        const answerKey = `answer ${query.metadata.card_id}`;
        const update = createStatusUpdate("TASK_STATE_INPUT_REQUIRED", formatCardText(query));
        const question: OpenQuestion = { answerKey, problem: { ...problem, prepared } };
        return { result: await turn.once(answerKey, () => turn.ask(update, question, 1)) };
      },
    });
    for (const event of createFinalTaskUpdates(reply, cards, signal.aborted))
      turn.emit(turn.addEndMetadata(event));
  } catch (error) {
    signal.throwIfAborted();
    // The problem does not form a valid task card. For example, its text is too long.
    turn.emit(createStatusUpdate("TASK_STATE_FAILED", formatError(error)));
  }
}

/** Returns a status with a text. The status about a message card has the id of the card. */
export function createStatusUpdate(
  state: TaskUpdateState,
  text: string,
  card?: MessageCard,
): TaskUpdateEvent {
  const messageId = card?.metadata.card_id;
  return { status: { state, message: { ...omitUndefined({ messageId }), parts: [{ text }] } } };
}

function createFinalTaskUpdates(
  reply: ResultCard | ErrorCard,
  cards: readonly MessageCard[],
  wasStopped: boolean,
): TaskUpdateEvent[] {
  const flow = { artifactId: "flow", name: "flow", parts: [{ text: generateFlowDiagram(cards) }] };
  const stopped = wasStopped ? "TASK_STATE_CANCELED" : undefined;
  const { content, metadata } = reply;
  if (reply.message_type === "error" || metadata["status"] === "error") {
    return [{ artifact: flow }, createStatusUpdate(stopped ?? "TASK_STATE_FAILED", content)];
  }
  const answer = { artifactId: "answer", name: "answer", parts: [{ text: content }] };
  const isPartial = metadata["status"] === "partial";
  const end: TaskUpdateEvent = { status: { state: (isPartial && stopped) || "TASK_STATE_COMPLETED" } };
  return [{ artifact: answer }, { artifact: flow }, end];
}

function formatCardLine({ sender, recipient, message_type, content }: MessageCard): string {
  return `${sender} → ${recipient} [${message_type}] ${content}`;
}
