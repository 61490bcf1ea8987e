import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { Agent, AgentDescription, AgentEvent, Caller, Run } from "../../engine/index.ts";
import {
  type MessageCard,
  type ErrorCard,
  generateFlowDiagram,
  type QueryCard,
  type ResultCard,
} from "../index.ts";
import { type JsonObject, type Task, getText } from "../../protocol/index.ts";
import { systemClock } from "./a2a/system-clock.ts";
import { ResumableWork, type TaskUpdateEvent } from "./a2a/resumable-work.ts";
import { ResumableWorkRegistry, type WaitingTaskLimits } from "./a2a/resumable-work-registry.ts";
import { omitUndefined } from "./a2a/omit-undefined.ts";
import { formatCardText } from "./a2a/card-event-encoder.ts";
import { formatError } from "./a2a/format-error.ts";
import type { Controller, ControllerSolveRequest } from "./controller.ts";

/** Options for `createControllerAgent`. */
export interface ControllerAgentOptions
  extends WaitingTaskLimits, Pick<ControllerSolveRequest, "to" | "dataset" | "context" | "deadlineMs"> {
  /** Controller that sends the user's problems to roles. */
  readonly controller: Controller;
  /** Name of the A2A agent. Default: `controller`. */
  readonly name?: string;
  readonly description?: string;
}

const assertKnownOptions = defineOptionNames<ControllerAgentOptions>()(
  "createControllerAgent",
  "answerTimeoutMs context controller dataset deadlineMs description maxWaitingTasks name to",
);

/** A problem that a user submitted as plain text. */
interface ActiveProblem {
  readonly work: ResumableWork<string>;
}

/**
 * Creates an A2A agent that passes problems from users to a controller. The agent treats each plain text
 * message as a problem. For each message card between the roles, the agent reports one line of text as
 * progress. The artifact `answer` contains the final answer, and the artifact `flow` contains a diagram of
 * the message cards. The agent forwards queries from the roles to the user.
 */
export function createControllerAgent(options: ControllerAgentOptions): Agent {
  assertKnownOptions(options);
  const { name = "controller", description = "Solves problems with a planner and its solvers." } = options;
  const { to, dataset, context, deadlineMs } = options;
  const defaults = omitUndefined({ to, dataset, context, deadlineMs });
  const problems = new ResumableWorkRegistry<string, ActiveProblem>(systemClock, options);
  return {
    describe: (): AgentDescription => ({
      name,
      description,
      version: "1.0.0",
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [{ id: "solve", name: "Solve", description, tags: ["cards", "solve"] }],
    }),
    async *execute(run: Run): AsyncGenerator<AgentEvent, void, undefined> {
      const text = getText(run.message.parts);
      const known = problems.find(run.taskId);
      if (!known && (run.task.history?.length ?? 0) > 1) {
        yield createStatusUpdate(
          "TASK_STATE_FAILED",
          "The server restarted and lost this problem. Send the problem again.",
        );
        return;
      }
      known?.work.resolveQuestion(text);
      yield* problems.streamTurnEvents(known ?? begin(run, text), run);
    },
    onTaskCanceled: ({ id }: Task, _caller: Caller, metadata: JsonObject) =>
      problems.stopAndRemoveWork(id, metadata),
  };

  function begin({ taskId, contextId, traceparent }: Run, task: string): ActiveProblem {
    const stop = new AbortController();
    const work = new ResumableWork<string>(() => stop.abort());
    const active = problems.register(taskId, { work });
    void solve(taskId, active, stop.signal, { task, contextId, ...omitUndefined({ traceparent }) });
    return active;
  }

  async function solve(
    taskId: string,
    active: ActiveProblem,
    signal: AbortSignal,
    problem: Pick<ControllerSolveRequest, "task" | "contextId" | "traceparent">,
  ): Promise<void> {
    const { work } = active;
    const ask = (query: QueryCard): Promise<string> =>
      problems.askQuestion(
        taskId,
        active,
        createStatusUpdate("TASK_STATE_INPUT_REQUIRED", formatCardText(query)),
        signal,
      );
    try {
      const { reply, cards } = await options.controller.solve({
        ...defaults,
        ...problem,
        relay: "full",
        signal,
        onCard: (card) => work.emit(createStatusUpdate("TASK_STATE_WORKING", formatCardLine(card))),
        answerQuery: async (query) => ({ result: await ask(query) }),
      });
      for (const event of createFinalTaskUpdates(reply, cards, signal.aborted)) work.emit(event);
    } catch (error) {
      // The problem does not form a valid task card. For example, its text is too long.
      work.emit(createStatusUpdate("TASK_STATE_FAILED", formatError(error)));
    }
    problems.endWorkAndScheduleRemoval(taskId, active);
  }
}

type TaskUpdateState = Extract<TaskUpdateEvent, { status: unknown }>["status"]["state"];

function createStatusUpdate(state: TaskUpdateState, text: string): TaskUpdateEvent {
  return { status: { state, message: { parts: [{ text }] } } };
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
