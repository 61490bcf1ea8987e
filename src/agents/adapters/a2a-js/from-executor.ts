import type { AgentCard } from "@a2a-js/sdk";
import {
  type AgentExecutionEvent,
  type AgentExecutor,
  DefaultExecutionEventBus,
  type RequestContext,
} from "@a2a-js/sdk/server";
import { defineOptionNames } from "../../../base/usage-checks/index.ts";
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
import {
  assertSdkVersion1,
  fromSdkArtifactUpdate,
  fromSdkMessage,
  fromSdkStatusUpdate,
  fromSdkTask,
  omitEngineSetMessageFields,
  toAgentDescription,
  toRequestContext,
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

/**
 * Maximum number of queued events. The queue needs a limit because `publish` does not wait for the reader.
 */
const MAX_QUEUED_EVENTS = 10_000;

/**
 * An SDK event bus with a queue for one reader. `removeAllListeners` does not detach the reader of the queue.
 * After `finished()` or `close()`, the reader receives the remaining queued events and then ends.
 */
class QueuedEventBus extends DefaultExecutionEventBus {
  readonly #queue: AgentExecutionEvent[] = [];
  #closed = false;
  #failure: { readonly error: unknown } | undefined;
  #wakeReader: (() => void) | undefined;

  override publish(event: AgentExecutionEvent): void {
    if (!this.#closed) {
      if (this.#queue.length >= MAX_QUEUED_EVENTS) this.close({ error: createQueueFullError() });
      else this.#queue.push(event);
      this.#wakeReader?.();
    }
    super.publish(event);
  }

  override finished(): void {
    this.close();
    super.finished();
  }

  /**
   * Stops accepting events. If `close` receives an error, the reader throws that error after the queued
   * events.
   */
  close(failure?: { readonly error: unknown }): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#failure = failure;
    this.#wakeReader?.();
  }

  /** True if `next` can return an event without waiting. */
  get hasQueuedEvents(): boolean {
    return this.#queue.length > 0;
  }

  /**
   * Returns the next event. After the last event, returns `undefined` or throws the error that was passed to
   * `close`.
   */
  async next(): Promise<AgentExecutionEvent | undefined> {
    for (;;) {
      const event = this.#queue.shift();
      if (event) return event;
      if (this.#failure) throw this.#failure.error;
      if (this.#closed) return undefined;
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
      this.#wakeReader = undefined;
    }
  }
}

function createQueueFullError(): A2AError {
  return new A2AError(
    "INTERNAL",
    `The agent published more than ${MAX_QUEUED_EVENTS} events at once. Wait between events, or publish larger chunks.`,
  );
}

const runsByRequest = new WeakMap<RequestContext, Run>();

/** Registers the run that executes a request, and returns the request. */
function registerRunOfRequest(request: RequestContext, run: Run): RequestContext {
  runsByRequest.set(request, run);
  return request;
}

/**
 * Returns the run that executes the request of an executor, for example for `once` and `sleep`. Throws an error if the
 * request comes from another server than Colloquy.
 */
export function getRunOfRequest(request: RequestContext): Run {
  const run = runsByRequest.get(request);
  if (run) return run;
  throw new TypeError(
    "No run of Colloquy executes this request. Pass the RequestContext that `execute` received, and serve the executor with fromExecutor.",
  );
}
