import type { Remote } from "../client/index.ts";
import {
  type Card,
  CARD_EXTENSION,
  CONTROLLER,
  type ControlCard,
  type ErrorCard,
  PLANNER,
  type QueryCard,
  type ResultCard,
  type TaskCard,
  toCardParts,
} from "../cards/index.ts";
import { type Envelope, nextTraceparent } from "../cards/index.ts";
import type { JsonObject } from "../protocol/index.ts";
import { answerCard, answerOr } from "./a2a/answer.ts";
import { Correspondence } from "./a2a/correspondence.ts";
import { runErrand } from "./a2a/errand.ts";
import { type OfficeOptions, openOffice } from "./a2a/office.ts";
import { defined } from "./a2a/defined.ts";
import type { QueryAnswer } from "./role.ts";

export interface ControllerOptions extends OfficeOptions {
  /** Answers what the role asks that has the problem. Default: nobody does, and it goes on without an answer. */
  readonly answer?: (query: QueryCard) => QueryAnswer | undefined | Promise<QueryAnswer | undefined>;
}

/** A problem to be solved. */
export interface Problem {
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
  readonly answer?: ControllerOptions["answer"];
  /** Told of every card as it is seen here: sent, received and relayed. */
  readonly onCard?: (card: Card) => void;
  /** Told of the A2A task once there is one; `control` takes its id. */
  readonly onTask?: (taskId: string) => void;
}

/** What became of a problem. */
export interface Solution {
  /** A result, or what went wrong; never missing. */
  readonly reply: ResultCard | ErrorCard;
  /** All cards that the controller has seen, in order. */
  readonly cards: readonly Card[];
  /** Of the A2A task at the role that had the problem; undefined when there came to be none. */
  readonly taskId: string | undefined;
}

export interface Controller {
  /**
   * Hands a problem to its role and waits for the reply. What goes wrong is an error card; rejects only for a problem that
   * cannot be a card, with INVALID_PARAMS.
   */
  solve(problem: Problem): Promise<Solution>;
  /**
   * Sends a control card to a problem that is being solved, for example `budget` with `{ token_budget: 5000 }`; rejects when it
   * is not taken. For `stop` abort the problem's signal.
   */
  control(taskId: string, action: string, parameters?: JsonObject): Promise<ControlCard>;
}

/** Hands problems to other roles and holds their deadlines. */
export function createController(options: ControllerOptions): Controller {
  const office = openOffice(CONTROLLER, options);
  const underWay = new Map<
    string,
    { readonly cards: Correspondence; readonly to: string; readonly remote: Remote }
  >();

  const write = (problem: Problem): TaskCard => {
    const { task, to = PLANNER, context, dataset, sampleId: sample_id, runId } = problem;
    const about = {
      card_id: office.newId(),
      run_id: runId ?? office.newId(),
      ...defined({ sample_id, dataset }),
    };
    const card = { from: CONTROLLER, to, task, metadata: about };
    return office.protocol.createTaskCard(context ? { ...card, context } : card);
  };

  return {
    async solve(problem) {
      const { relay = "none", onCard, onTask, signal = new AbortController().signal } = problem;
      const { answer = options.answer } = problem;
      const seen: Card[] = [];
      const exchanged = (card: Card): void => {
        seen.push(card);
        onCard?.(card);
      };
      const card = write(problem);
      const traceparent = nextTraceparent(problem.traceparent);
      const envelope: Envelope = { relay, hops: 0, traceparent, runId: card.metadata.run_id };
      const cards = new Correspondence(office, card, envelope, { exchanged });
      let task: string | undefined;
      const reply = await runErrand({
        card,
        cards,
        contextId: problem.contextId ?? office.newId(),
        signal,
        deadlineMs: problem.deadlineMs ?? office.deadlineMs,
        answer: async (query) => answerCard(query, await answerOr(() => answer?.(query), cards), cards),
        onTask(taskId, remote) {
          task = taskId;
          underWay.set(taskId, { cards, to: card.recipient, remote });
          onTask?.(taskId);
        },
      });
      if (task !== undefined) underWay.delete(task);
      return { reply, cards: seen, taskId: task };
    },

    async control(taskId, action, parameters = {}) {
      const found = underWay.get(taskId);
      if (!found)
        throw new Error(`No problem with the task ${taskId} is being solved here; onTask tells their ids.`);
      const { cards, to, remote } = found;
      const card = cards.control(to, action, parameters);
      const message_id = card.metadata.card_id;
      cards.sent(card, { method: "SendMessage", task_id: taskId, ...defined({ message_id }) }, true);
      await remote.send({
        parts: toCardParts(card),
        extensions: [CARD_EXTENSION],
        taskId,
        ...(message_id === undefined ? {} : { messageId: message_id }),
      });
      return card;
    },
  };
}
