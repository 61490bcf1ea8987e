import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import type { AgentCard } from "@a2a-js/sdk";
import type { AgentExecutionEvent, AgentExecutor } from "@a2a-js/sdk/server";
import type { Agent, AgentEvent, Run, TurnPolicy } from "../../../engine/index.ts";
import {
  A2AError,
  assertValidAgentCard,
  isTerminal,
  type Message,
  type Task,
  type TaskStatus,
} from "../../../protocol/index.ts";
import { isFirstTurnInTask } from "../conversation-store.ts";
import { registerRunOfRequest } from "./run-of-request.ts";
import { QueuedEventBus } from "./queued-event-bus.ts";
import {
  assertSdkVersion1,
  fromSdkArtifactUpdate,
  fromSdkMessage,
  fromSdkStatusUpdate,
  fromSdkTask,
  toAgentDescription,
  toRequestContext,
  omitEngineSetMessageFields,
} from "./sdk-model.ts";

/**
 * Options for `fromExecutor`. The defaults match the SDK's request handler. The executor's first event
 * determines whether the answer is a task or a message. Messages to a working task are queued.
 */
export type ExecutorOptions = Pick<
  Agent,
  "respondsWith" | "whileWorking" | "concurrentTurns" | "describeExtended" | keyof TurnPolicy
> & {
  /**
   * Determines what happens to a turn that a server restart interrupted. `restart` calls `execute` again.
   * `getRunOfRequest(requestContext).once` executes a step once in all attempts. `fail` ends the task as FAILED.
   * Default: `fail`.
   */
  readonly afterRestart?: "fail" | "restart";
};

const assertKnownOptions = defineOptionNames<ExecutorOptions>()(
  "fromExecutor",
  "afterRestart concurrentTurns describeExtended respondsWith whileWorking",
  "maxSilenceMs maxTurnMs whenUnread",
);

/**
 * Creates an agent from an `AgentExecutor` of `@a2a-js/sdk`.
 *
 * A turn of the agent ends when the executor publishes COMPLETED, FAILED, CANCELED, REJECTED, or
 * INPUT_REQUIRED, calls `finished()`, or returns. A task that is still working at the end of the turn becomes
 * COMPLETED. If the executor throws an error, the task becomes FAILED.
 *
 * The adapter calls the executor's `cancelTask` when a working task is canceled and when the server closes.
 */
export function fromExecutor(executor: AgentExecutor, card: AgentCard, options: ExecutorOptions = {}): Agent {
  assertKnownOptions(options);
  assertSdkVersion1();
  const description = toAgentDescription(card);
  assertValidAgentCard(description);
  return {
    respondsWith: "either",
    whileWorking: "queue",
    ...options,
    describe: () => description,
    execute: (run) => runExecutorTurn(executor, run),
  };
}

async function* runExecutorTurn(
  executor: AgentExecutor,
  run: Run,
): AsyncGenerator<AgentEvent, void, undefined> {
  const bus = new QueuedEventBus();
  const context = registerRunOfRequest(await toRequestContext(run), run);
  // The task may have been canceled while the store was read.
  run.signal.throwIfAborted();
  const cancel = (): void => {
    const cancellation = (async () => executor.cancelTask(run.taskId, bus))();
    cancellation.catch((error: unknown) => bus.close({ error }));
  };
  run.signal.addEventListener("abort", cancel, { once: true });
  const execution = (async () => executor.execute(context, bus))();
  const executionEnd = execution.then(
    () => bus.finished(),
    (error: unknown) => bus.close({ error }),
  );
  const converter = new ExecutorEventConverter(run);
  try {
    for (let event = await bus.next(); event; event = await bus.next()) {
      run.progress();
      for (const agentEvent of converter.convert(event, bus.hasQueuedEvents)) {
        yield agentEvent;
        if (!("status" in agentEvent)) continue;
        const { state } = agentEvent.status;
        if (state === "TASK_STATE_INPUT_REQUIRED") return;
        if (!isTerminal(state)) continue;
        // The task has reached a terminal state. A later error of the executor is still reported to the
        // server's observer.
        bus.close();
        await executionEnd;
        await execution;
        return;
      }
    }
  } finally {
    run.signal.removeEventListener("abort", cancel);
    bus.close();
  }
}

/** Converts the events of an executor into agent events. */
class ExecutorEventConverter {
  readonly #run: Run;
  /** Ids of the messages that the task already contains. */
  readonly #knownMessageIds: Set<string>;
  #hasStarted = false;

  constructor(run: Run) {
    this.#run = run;
    this.#knownMessageIds = new Set(run.task.history?.map(({ messageId }) => messageId));
    const { message } = run.task.status;
    if (message) this.#knownMessageIds.add(message.messageId);
  }

  /** Converts one event. `hasMore` is true if the executor has already queued its next event. */
  *convert(event: AgentExecutionEvent, hasMore: boolean): Generator<AgentEvent, void, undefined> {
    const isFirst = !this.#hasStarted;
    this.#hasStarted = true;
    if (event.kind === "message") {
      const message = fromSdkMessage(event.data);
      const isAnswer = isFirst && isFirstTurnInTask(this.#run);
      yield isAnswer ? { message } : { status: { state: "TASK_STATE_COMPLETED", message } };
    } else if (event.kind === "task") {
      yield* this.#convertTask(fromSdkTask(event.data), isFirst, hasMore);
    } else if (event.kind === "statusUpdate") {
      const { taskId, status, metadata } = fromSdkStatusUpdate(event.data);
      this.#assertOwnTask(taskId);
      yield* this.#convertStatus(status, metadata, hasMore);
    } else {
      const { taskId, contextId: _, ...agentEvent } = fromSdkArtifactUpdate(event.data);
      this.#assertOwnTask(taskId);
      yield agentEvent;
    }
  }

  /**
   * Compares the task from the executor with the task that the executor received, and emits events for the
   * differences.
   */
  *#convertTask(task: Task, isFirst: boolean, hasMore: boolean): Generator<AgentEvent, void, undefined> {
    this.#assertOwnTask(task.id);
    const run = this.#run;
    for (const artifact of task.artifacts ?? []) {
      const knownArtifact = run.task.artifacts?.find(({ artifactId }) => artifactId === artifact.artifactId);
      if (!knownArtifact || JSON.stringify(knownArtifact) !== JSON.stringify(artifact)) yield { artifact };
    }
    for (const message of task.history ?? []) {
      if (message.role !== "ROLE_AGENT" || this.#knownMessageIds.has(message.messageId)) continue;
      yield this.#createWorkingStatus(message);
    }
    const { state, timestamp } = run.task.status;
    const isUnchanged = isFirst && task.status.state === state && task.status.timestamp === timestamp;
    if (!isUnchanged) yield* this.#convertStatus(task.status, task.metadata, hasMore);
    else if (isFirstTurnInTask(run) && !hasMore) yield { status: { state: "TASK_STATE_WORKING" } };
  }

  *#convertStatus(
    { state, message }: TaskStatus,
    metadata: Task["metadata"],
    hasMore: boolean,
  ): Generator<AgentEvent, void, undefined> {
    const extraMetadata = metadata && Object.keys(metadata).length > 0 ? { metadata } : {};
    // An aborted signal without cancel metadata means that the server is closing. The engine then decides the
    // task's state.
    if (state === "TASK_STATE_CANCELED" && this.#run.signal.aborted && !this.#run.cancelMetadata) return;
    if (state === "TASK_STATE_SUBMITTED" || state === "TASK_STATE_UNSPECIFIED") {
      // The engine has already recorded SUBMITTED. It is emitted again as WORKING only if the executor
      // publishes nothing else yet.
      if (hasMore && !message && !("metadata" in extraMetadata)) return;
      yield { ...this.#createWorkingStatus(message), ...extraMetadata };
      return;
    }
    if (message) this.#knownMessageIds.add(message.messageId);
    yield {
      status: message ? { state, message: omitEngineSetMessageFields(message) } : { state },
      ...extraMetadata,
    };
  }

  #createWorkingStatus(message: Message | undefined): AgentEvent {
    if (message) this.#knownMessageIds.add(message.messageId);
    const state = "TASK_STATE_WORKING";
    return { status: message ? { state, message: omitEngineSetMessageFields(message) } : { state } };
  }

  #assertOwnTask(taskId: string): void {
    if (taskId === this.#run.taskId) return;
    throw new A2AError(
      "INVALID_AGENT_RESPONSE",
      `The executor published an event of task ${JSON.stringify(taskId)} during task ${this.#run.taskId}. Use requestContext.taskId in each event.`,
    );
  }
}
