import type { A2AClient } from "../client/index.ts";
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
} from "../cards/index.ts";
import { type CardEnvelope, createChildTraceparent } from "../cards/index.ts";
import type { JsonObject } from "../protocol/index.ts";
import { createAnswerCard, tryAnswerQuery } from "./a2a/query-answer.ts";
import { CardJournal } from "./a2a/card-journal.ts";
import { deliverCard } from "./a2a/card-delivery.ts";
import { type RoleRuntimeOptions, createRoleRuntime } from "./a2a/role-runtime.ts";
import { omitUndefined } from "./a2a/omit-undefined.ts";
import type { QueryAnswer } from "./role.ts";

export interface ControllerOptions extends RoleRuntimeOptions {
  /** Answers what the role asks that has the problem. Default: nobody does, and it goes on without an answer. */
  readonly answerQuery?: (query: QueryCard) => QueryAnswer | undefined | Promise<QueryAnswer | undefined>;
}

/** A problem to be solved. */
export interface SolveRequest {
  readonly task: string;
  /** Who solves it. Default: the planner. */
  readonly to?: string;
  /** What is to be known beside the task. */
  readonly context?: JsonObject;
  readonly dataset?: string;
  readonly sampleId?: string;
  /** Default: a new id. */
  readonly runId?: string;
  /** The A2A context of all tasks of the problem. Default: a new one. */
  readonly contextId?: string;
  /** Stops the problem; its reason may be a ControlCard, whose parameters are passed on. */
  readonly signal?: AbortSignal;
  /** Then it is stopped, in milliseconds. Default: that of the controller. */
  readonly deadlineMs?: number;
  /** `full`: every role tells of the cards that it exchanges with others; they are in `cards` then. Default `none`. */
  readonly relay?: "none" | "full";
  /** A distributed trace that this is part of (W3C). Default: a trace of its own. */
  readonly traceparent?: string;
  /** Answers what is asked about this problem. Default: that of the controller. */
  readonly answerQuery?: ControllerOptions["answerQuery"];
  /** Told of every card as it is seen here: sent, received and relayed. */
  readonly onCard?: (card: MessageCard) => void;
  /** Told of the A2A task once there is one; `createControlCard` takes its id. */
  readonly onTaskCreated?: (taskId: string) => void;
}

/** What became of a problem. */
export interface SolveResult {
  /** A result, or what went wrong; never missing. */
  readonly reply: ResultCard | ErrorCard;
  /** All cards that the controller has seen, in order. */
  readonly cards: readonly MessageCard[];
  /** Of the A2A task at the role that had the problem; undefined when there came to be none. */
  readonly taskId: string | undefined;
}

export interface Controller {
  /**
   * Hands a problem to its role and waits for the reply. What goes wrong is an error card; rejects only for a problem that
   * cannot be a card, with INVALID_PARAMS.
   */
  solve(problem: SolveRequest): Promise<SolveResult>;
  /**
   * Sends a control card to a problem that is being solved, for example `budget` with `{ token_budget: 5000 }`; rejects when it
   * is not taken. For `stop` abort the problem's signal.
   */
  sendControl(taskId: string, action: string, parameters?: JsonObject): Promise<ControlCard>;
}

/** Hands problems to other roles and holds their deadlines. */
export function createController(options: ControllerOptions): Controller {
  const runtime = createRoleRuntime(CONTROLLER, options);
  const activeProblems = new Map<
    string,
    { readonly cards: CardJournal; readonly to: string; readonly remote: A2AClient }
  >();

  const createProblemCard = (problem: SolveRequest): TaskCard => {
    const { task: taskId, to = PLANNER, context, dataset, sampleId, runId } = problem;
    const metadata = {
      card_id: runtime.newId(),
      run_id: runId ?? runtime.newId(),
      ...omitUndefined({ sample_id: sampleId, dataset }),
    };
    const card = { from: CONTROLLER, to, task: taskId, metadata };
    return runtime.protocol.createTaskCard(context ? { ...card, context } : card);
  };

  return {
    async solve(problem) {
      const { relay = "none", onCard, onTaskCreated, signal = new AbortController().signal } = problem;
      const { answerQuery = options.answerQuery } = problem;
      const seen: MessageCard[] = [];
      const recordExchange = (card: MessageCard): void => {
        seen.push(card);
        onCard?.(card);
      };
      const card = createProblemCard(problem);
      const traceparent = createChildTraceparent(problem.traceparent);
      const envelope: CardEnvelope = { relay, hops: 0, traceparent, runId: card.metadata.run_id };
      const journal = new CardJournal(runtime, card, envelope, { onCard: recordExchange });
      let task: string | undefined;
      const reply = await deliverCard({
        card,
        journal,
        contextId: problem.contextId ?? runtime.newId(),
        signal,
        deadlineMs: problem.deadlineMs ?? runtime.deadlineMs,
        answerQuery: async (query) =>
          createAnswerCard(query, await tryAnswerQuery(() => answerQuery?.(query), journal), journal),
        onTaskCreated(taskId, client) {
          task = taskId;
          activeProblems.set(taskId, { cards: journal, to: card.recipient, remote: client });
          onTaskCreated?.(taskId);
        },
      });
      if (task !== undefined) activeProblems.delete(task);
      return { reply, cards: seen, taskId: task };
    },

    async sendControl(taskId, action, parameters = {}) {
      const found = activeProblems.get(taskId);
      if (!found)
        throw new Error(`No problem with the task ${taskId} is being solved here; onTask tells their ids.`);
      const { cards: journal, to, remote: client } = found;
      const card = journal.createControlCard(to, action, parameters);
      const message_id = card.metadata.card_id;
      journal.recordSent(
        card,
        { method: "SendMessage", task_id: taskId, ...omitUndefined({ message_id }) },
        true,
      );
      await client.send({
        parts: toCardParts(card),
        extensions: [MESSAGE_CARD_EXTENSION_URI],
        taskId,
        ...(message_id === undefined ? {} : { messageId: message_id }),
      });
      return card;
    },
  };
}
