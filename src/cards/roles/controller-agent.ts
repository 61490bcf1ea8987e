import { defineOptionNames, omitUndefined } from "../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, AgentEvent, Caller, Run, SessionStore } from "../../engine/index.ts";
import { type MessageCard, type ErrorCard, generateFlowDiagram, type ResultCard } from "../index.ts";
import { type JsonObject, type Task, getText } from "../../protocol/index.ts";
import { systemClock } from "./a2a/system-clock.ts";
import {
  DurableTurn,
  findWaitingState,
  type TaskUpdateEvent,
  type TaskUpdateState,
} from "./a2a/durable-turn.ts";
import { formatCardText } from "./a2a/card-event-encoder.ts";
import { formatError } from "./a2a/format-error.ts";
import { toCancellationAbortReason } from "./a2a/stop-reason.ts";
import type { Controller, ControllerSolveRequest } from "./controller.ts";

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

const assertKnownOptions = defineOptionNames<ControllerAgentOptions>()(
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
  assertKnownOptions(options);
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
