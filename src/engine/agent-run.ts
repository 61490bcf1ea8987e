import {
  type JsonObject,
  type Message,
  type SendMessageConfiguration,
  type Task,
  copyTask,
  isInterrupted,
  type TaskState,
} from "../protocol/index.ts";
import type { Run } from "./agent.ts";
import { type Caller, type ContextScope, isContextInScope } from "./caller.ts";
import type { Clock } from "./clock.ts";
import type { TaskRegistry } from "./task-registry.ts";
import type { TaskStore } from "./task-store.ts";
import { assertValidWakeTime, sleepUntil, createIdempotencyKey } from "./turn-steps.ts";
import type { Turn } from "./turn.ts";

/**
 * Maximum number of tasks that one call loads. The limit is needed because each task requires a store lookup,
 * and a request can reference any number of tasks.
 */
const MAX_RELATED_TASKS = 50;

const STATES_AWAITING_USER: readonly TaskState[] = ["TASK_STATE_INPUT_REQUIRED", "TASK_STATE_AUTH_REQUIRED"];

/** Dependencies that the runs of all agents of an engine share. */
interface AgentRunDependencies {
  readonly clock: Clock;
  readonly store: TaskStore;
  readonly tasks: Pick<TaskRegistry, "read">;
}

/** A turn as its agent sees it. */
export class AgentRun implements Run {
  readonly taskId: string;
  readonly contextId: string;
  readonly message: Message;
  readonly task: Task;
  readonly attempt: number;
  readonly caller: Caller;
  readonly #turn: Turn;
  readonly #context: AgentRunDependencies;

  constructor(turn: Turn, startTask: Task, context: AgentRunDependencies) {
    this.#turn = turn;
    this.#context = context;
    this.taskId = startTask.id;
    this.contextId = startTask.contextId;
    this.message = turn.message;
    this.task = startTask;
    this.attempt = turn.attempt;
    this.caller = turn.caller;
  }

  get configuration(): SendMessageConfiguration {
    return this.#turn.request.configuration ?? {};
  }

  get metadata(): JsonObject {
    return this.#turn.request.metadata ?? {};
  }

  get isStreaming(): boolean {
    return this.#turn.serviceParameters.isStreaming ?? false;
  }

  get protocolVersion(): string {
    return this.#turn.serviceParameters.version ?? "1.0";
  }

  get extensions(): readonly string[] {
    return this.#turn.serviceParameters.extensions ?? [];
  }

  get signal(): AbortSignal {
    return this.#turn.signal;
  }

  get reportCall(): Run["reportCall"] {
    const report = this.#turn.findCallReporter(this.#turn.task);
    if (!report) return undefined;
    return (call) => {
      this.#turn.noteProgress();
      report(call);
    };
  }

  get reportWarning(): Run["reportWarning"] {
    return this.#turn.findWarningReporter();
  }

  get traceparent(): string | undefined {
    return this.#turn.serviceParameters.traceparent;
  }

  get traceHeaders(): Readonly<Record<string, string>> {
    const { span, serviceParameters } = this.#turn;
    const { traceparent, tracestate } = span ?? serviceParameters;
    if (traceparent === undefined) return {};
    return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) };
  }

  get parentTask(): Run["parentTask"] {
    return this.#turn.serviceParameters.parentTask;
  }

  get cancelMetadata(): JsonObject | undefined {
    return this.#turn.cancelMetadata;
  }

  get idempotencyKey(): string {
    return createIdempotencyKey(this.taskId, this.#turn.seq);
  }

  // Agents take the functions from their run, as in `async function* ({ once })`.
  get progress(): Run["progress"] {
    return () => this.#turn.noteProgress();
  }

  get once(): Run["once"] {
    return (key, execute) => this.#turn.steps.executeOnce(key, execute);
  }

  get sleep(): Run["sleep"] {
    return async (key, until) => {
      const wakeAt = await this.#storeWakeTime("sleep", key, until);
      await this.#turn.withoutTimer(() => sleepUntil(wakeAt, this.#context.clock, this.signal));
    };
  }

  get suspend(): Run["suspend"] {
    return async (key, until) => {
      const wakeAt = await this.#storeWakeTime("suspend", key, until);
      const endSuspension = this.#turn.suspend(wakeAt);
      try {
        await this.#turn.withoutTimer(() => sleepUntil(wakeAt, this.#context.clock, this.signal));
      } finally {
        endSuspension();
      }
    };
  }

  /** Resolves with the time that the first attempt has stored, in milliseconds since 1970. */
  #storeWakeTime(name: "sleep" | "suspend", key: string, until: Date | number): Promise<number> {
    assertValidWakeTime(name, key, until);
    return this.once(`colloquy:sleep:${key}`, () =>
      typeof until === "number" ? this.#context.clock.now() + until : until.getTime(),
    );
  }

  /** Resolves with copies of the tasks to which the message of the turn refers. */
  async loadReferencedTasks(): Promise<Task[]> {
    const { referenceTaskIds = [] } = this.message;
    const tasks: Task[] = [];
    for (const id of [...new Set(referenceTaskIds)].slice(0, MAX_RELATED_TASKS)) {
      const task = (await this.#context.tasks.read(this.#turn.task.scope, id))?.task;
      if (task && mayRead(this.caller.contextScope, task)) tasks.push(copyTask(task));
    }
    return tasks;
  }

  /** Resolves with copies of the other tasks in the context of the turn that wait for their user, newest first. */
  async listInterruptedTasks(): Promise<Task[]> {
    const { contextId = "" } = this.message;
    const pages = await Promise.all(
      STATES_AWAITING_USER.map((status) =>
        this.#context.store.list(this.#turn.task.scope, { contextId, status, limit: MAX_RELATED_TASKS }),
      ),
    );
    return pages
      .flatMap(({ tasks }) => tasks)
      .filter(({ id, status }) => id !== this.message.taskId && isInterrupted(status.state))
      .toSorted((one, other) => compareTimestampsNewestFirst(one.status.timestamp, other.status.timestamp))
      .slice(0, MAX_RELATED_TASKS)
      .map((task) => copyTask(task));
  }
}

function mayRead(contextScope: ContextScope | undefined, { contextId }: Task): boolean {
  return contextScope === undefined || isContextInScope(contextScope, contextId);
}

function compareTimestampsNewestFirst(a = "", b = ""): number {
  return a === b ? 0 : a < b ? 1 : -1;
}
