import { defineOptionNames, omitUndefined } from "../../base/usage-checks/index.ts";
import type { A2AClient } from "../../client/index.ts";
import {
  type MessageCard,
  MESSAGE_CARD_EXTENSION_URI,
  CONTROLLER,
  type ControlCard,
  type ErrorCard,
  PLANNER,
  type QueryCard,
  type ResultCard,
  type TaskCard,
  toCardParts,
} from "../index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { createQueryAnswerCard, getQueryAnswerOrReportError } from "./a2a/query-answer-card.ts";
import { CardJournal } from "./a2a/card-journal.ts";
import { deliverCard, prepareDelivery } from "./a2a/card-delivery.ts";
import { type RoleRuntimeOptions, createRoleRuntime } from "./a2a/role-runtime.ts";
import type { QueryAnswer } from "./role.ts";

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
   * Callback that receives the id of the A2A task when the task is created. `sendControl` requires this id.
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

/** Controller that sends problems to roles, and control cards while the roles work. */
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
  /**
   * Sends a control card to the role that works on a problem. For example, the control card `budget` sets a
   * new token budget. Rejects if the role does not accept the control card. To send the control card `stop`,
   * abort the signal of the problem.
   */
  sendControl(taskId: string, action: string, parameters?: JsonObject): Promise<ControlCard>;
}

/** Creates a controller that sends problems to roles and stops work on a problem when its deadline passes. */
export function createController(options: ControllerOptions): Controller {
  assertKnownOptions(options);
  const runtime = createRoleRuntime(CONTROLLER, options);
  const activeProblems = new Map<
    string,
    { readonly journal: CardJournal; readonly to: string; readonly client: A2AClient }
  >();

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
      const delivered = deliverCard({
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
        onTaskCreated(taskId, client) {
          createdTaskId = taskId;
          activeProblems.set(taskId, { journal, to: card.recipient, client });
          onTaskCreated?.(taskId);
        },
      });
      const reply = await delivered.finally(() => activeProblems.delete(createdTaskId ?? ""));
      return { reply, cards: seen, taskId: createdTaskId };
    },

    async sendControl(taskId, action, parameters = {}) {
      const found = activeProblems.get(taskId);
      if (!found)
        throw new Error(
          `The controller has no active problem with the task ${taskId}. Use an id that onTaskCreated reported.`,
        );
      const { journal, to, client } = found;
      const card = journal.createControlCard(to, action, parameters);
      journal.recordSent(card, { task_id: taskId }, true);
      await client.send({
        parts: toCardParts(card),
        extensions: [MESSAGE_CARD_EXTENSION_URI],
        taskId,
        ...omitUndefined({ messageId: card.metadata.card_id }),
      });
      return card;
    },
  };
}
