import type {
  JsonObject,
  Message,
  SendMessageConfiguration,
  SendMessageRequest,
  Task,
  TaskEvent,
  TaskState,
} from "../protocol/index.ts";
import { Deferred } from "../data-structures/index.ts";
import type { Agent, AgentEvent, Run } from "./agent.ts";
import type { RestartedTurnArtifactRewriter } from "./restarted-turn-artifacts.ts";
import type { Caller } from "./caller.ts";
import type { Clock } from "./clock.ts";
import type { EarlierRun, RunSpan } from "./run-tracing.ts";
import type { ServiceParameters } from "./service-parameters.ts";
import type { FinishedStep } from "./steps/finished-step.ts";
import { guardAbortListeners } from "./guard-abort-listeners.ts";
import { createIdempotencyKey } from "./steps/idempotency-key.ts";
import { assertValidWakeTime, sleepUntil } from "./steps/sleep-until.ts";
import { TurnSteps, type TurnOfSteps } from "./steps/turn-steps.ts";
import { createTurnEndedError } from "./task-errors.ts";

/**
 * Output of a running agent. If the agent started before its task existed, `firstResult` is the agent's
 * first result.
 */
export interface StartedAgentIterator {
  readonly iterator: AsyncIterator<AgentEvent>;
  readonly firstResult?: IteratorResult<AgentEvent>;
}

/** The task at the start of a turn, and the sequence number of the turn's message. */
export interface TurnStartPoint {
  readonly task: Task;
  readonly seq: number;
  /**
   * Event that directly follows the message and moves an interrupted task to WORKING. If the task was not
   * interrupted, `workingEvent` is `undefined`.
   */
  readonly workingEvent?: TaskEvent | undefined;
}

/** Functions of the task runner that an agent's steps need. */
export interface StepHost {
  readonly clock: Clock;
  /** Resolves when the finished steps of the turn are durable, as far as the turn can be attempted again. */
  readonly commitSteps: () => Promise<void>;
  /** Reports an error of the agent that does not end the turn. */
  readonly reportError: (error: unknown) => void;
  /** Reports a call of the agent. Undefined if nothing observes the calls. */
  readonly reportCall?: Run["reportCall"];
  /** Reports a mistake of the agent. Undefined if nothing observes warnings. */
  readonly reportWarning?: Run["reportWarning"];
  /**
   * Allows the attempt to end while its agent waits until `wakeAt`, in milliseconds since 1970. Returns a function that
   * ends the suspension.
   */
  readonly suspendTurn: (wakeAt: number) => () => void;
}

/** The processing of one message to a task, including everything that the agent does in response. */
export class Turn {
  readonly request: SendMessageRequest;
  readonly caller: Caller;
  readonly serviceParameters: ServiceParameters;
  /** Functions that let the agent read the caller's other tasks. */
  readonly relatedTasks: Pick<Run, "loadReferencedTasks" | "listInterruptedTasks">;
  /** The caller's message, with the ids of its task and context. */
  readonly message: Message;
  /** Resolves with the sequence number of the message once the message is durable. */
  readonly durableSeq: Deferred<number> = new Deferred();
  /** Resolves with the task once a committed status ends or interrupts the turn. */
  readonly stoppedTask: Deferred<Task> = new Deferred();
  /** The agent of the turn since the start of the turn, even if the engine replaces its agent. */
  agent: Agent | undefined;
  startPoint: TurnStartPoint | undefined;
  /** Last task state that the agent set in this turn. */
  lastState: TaskState | undefined;
  /** Metadata of the CancelTask request, if a client has canceled the task. */
  cancelMetadata: JsonObject | undefined;
  /** True if a message with the steering signal `interrupt` stops the agent. */
  isInterrupted = false;
  /** Reason for stopping the agent, if the server stopped the agent. */
  stopReason: string | undefined;
  /** Ends the count of the turn as a running agent. Safe to repeat. */
  endAdmission: () => void = () => {};
  /** Time in milliseconds since 1970 until which the turn waits and needs no process, or `undefined`. */
  wakeAt: number | undefined;
  /** Rewrites artifact events if an earlier attempt at the turn may have left partial artifacts. */
  artifactRestart: RestartedTurnArtifactRewriter | undefined;
  /** Number of attempts at the turn, including the current attempt. */
  readonly attempt: number;
  /** Number of earlier attempts that ended because their node stopped normally. */
  readonly handovers: number;
  /** The span of the agent's run. Undefined if runs are not traced, and while the turn waits in a queue. */
  span: RunSpan | undefined;
  /** Time in milliseconds since 1970 at which the span began. */
  spanStartedAt: number | undefined;
  /** The traced attempt before this attempt. */
  earlierRun: EarlierRun | undefined;
  /** The error that the agent threw. */
  agentError: unknown;
  /** True if the runner ignores the agent's further output. */
  isFenced = false;
  #hasEnded = false;
  /** Created for the first step, because most turns have no steps. */
  #steps: TurnSteps | undefined;
  /**
   * The abort controller is created on first use, because its creation costs more than the rest of a short
   * turn.
   */
  #abortController: AbortController | undefined;
  #endCallbacks: (() => void)[] = [];
  #reportError: StepHost["reportError"] | undefined;

  constructor(
    request: SendMessageRequest,
    message: Message,
    caller: Caller,
    serviceParameters: ServiceParameters,
    relatedTasks: Turn["relatedTasks"],
    attempt: number,
    handovers = 0,
  ) {
    this.request = request;
    this.message = message;
    this.caller = caller;
    this.serviceParameters = serviceParameters;
    this.relatedTasks = relatedTasks;
    this.attempt = attempt;
    this.handovers = handovers;
  }

  /** True if the agent has finished or its output is ignored. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** False while the turn waits in a queue. */
  get hasBegun(): boolean {
    return this.startPoint !== undefined;
  }

  /** Signal that aborts with the turn. */
  get signal(): AbortSignal {
    if (!this.#abortController) {
      this.#abortController = new AbortController();
      guardAbortListeners(this.#abortController.signal, (error) => this.#reportError?.(error));
    }
    return this.#abortController.signal;
  }

  get isAborted(): boolean {
    return this.#abortController?.signal.aborted ?? false;
  }

  /** A signal without readers needs no guard, because it calls no listener after it has aborted. */
  abort(reason: string): void {
    this.#abortController ??= new AbortController();
    this.#abortController.abort(new DOMException(reason, "AbortError"));
  }

  get steps(): TurnSteps {
    return (this.#steps ??= new TurnSteps());
  }

  /** Returns the steps of the turn, or `undefined` if the turn has no steps yet. */
  findSteps(): TurnSteps | undefined {
    return this.#steps;
  }

  /** Restores the steps that earlier attempts at the turn have finished. */
  restoreSteps(stored: readonly FinishedStep[]): void {
    if (stored.length > 0) this.#steps = new TurnSteps(stored);
  }

  /** Starts the agent. `task` is the task at the start of the turn. */
  startAgent(agent: Agent, task: Task, host: StepHost): StartedAgentIterator {
    this.#reportError = host.reportError;
    const output = agent.execute(new AgentRunOfTurn(this, task, host));
    const events = this.serviceParameters.needsTask ? withRepliesAsCompletedStatus(output) : output;
    return { iterator: events[Symbol.asyncIterator]() };
  }

  /** Runs a part of the agent's work in the span of the turn. */
  runInSpan<T>(work: () => T): T {
    return this.span ? this.span.run(work) : work();
  }

  /** Calls `callback` when the turn ends. */
  onEnd(callback: () => void): void {
    if (this.#hasEnded) callback();
    else this.#endCallbacks.push(callback);
  }

  end(): void {
    this.#hasEnded = true;
    for (const callback of this.#endCallbacks.splice(0)) callback();
  }

  /** Ends a turn that cannot start or whose events cannot be stored. */
  endWithError(error: unknown): void {
    this.isFenced = true;
    this.durableSeq.reject(error);
    this.stoppedTask.reject(error);
    this.end();
  }
}

/** Converts a reply without a task to the message that completes the task. */
async function* withRepliesAsCompletedStatus(events: AsyncIterable<AgentEvent>): AsyncGenerator<AgentEvent> {
  for await (const event of events) {
    const isReply = typeof event === "object" && event !== null && "message" in event;
    yield isReply ? { status: { state: "TASK_STATE_COMPLETED", message: event.message } } : event;
  }
}

class AgentRunOfTurn implements Run {
  readonly taskId: string;
  readonly contextId: string;
  readonly message: Message;
  readonly task: Task;
  readonly attempt: number;
  readonly caller: Caller;
  readonly configuration: SendMessageConfiguration;
  readonly isStreaming: boolean;
  readonly metadata: JsonObject;
  readonly protocolVersion: string;
  readonly extensions: readonly string[];
  readonly #turn: Turn;
  readonly #host: StepHost;

  constructor(turn: Turn, task: Task, host: StepHost) {
    this.#turn = turn;
    this.#host = host;
    this.taskId = task.id;
    this.contextId = task.contextId;
    this.message = turn.message;
    this.task = task;
    this.attempt = turn.attempt;
    this.caller = turn.caller;
    this.configuration = turn.request.configuration ?? {};
    this.isStreaming = turn.serviceParameters.isStreaming ?? false;
    this.metadata = turn.request.metadata ?? {};
    this.protocolVersion = turn.serviceParameters.version ?? "1.0";
    this.extensions = turn.serviceParameters.extensions ?? [];
  }

  get signal(): AbortSignal {
    return this.#turn.signal;
  }

  get reportCall(): Run["reportCall"] {
    return this.#host.reportCall;
  }

  get reportWarning(): Run["reportWarning"] {
    return this.#host.reportWarning;
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
    return createIdempotencyKey(this.taskId, this.#turnSeq);
  }

  // Agents take the functions from their run, as in `async function* ({ once })`.
  get once(): Run["once"] {
    return (key, execute) => this.#turn.steps.executeOnce(key, execute, this.#createTurnOfSteps());
  }

  get sleep(): Run["sleep"] {
    return async (key, until) => {
      await sleepUntil(await this.#storeWakeTime("sleep", key, until), this.#host.clock, this.signal);
    };
  }

  get suspend(): Run["suspend"] {
    return async (key, until) => {
      const wakeAt = await this.#storeWakeTime("suspend", key, until);
      const endSuspension = this.#host.suspendTurn(wakeAt);
      try {
        await sleepUntil(wakeAt, this.#host.clock, this.signal);
      } finally {
        endSuspension();
      }
    };
  }

  /** Resolves with the time that the first attempt has stored, in milliseconds since 1970. */
  #storeWakeTime(name: "sleep" | "suspend", key: string, until: Date | number): Promise<number> {
    assertValidWakeTime(name, key, until);
    return this.once(`colloquy:sleep:${key}`, () =>
      typeof until === "number" ? this.#host.clock.now() + until : until.getTime(),
    );
  }

  #createTurnOfSteps(): TurnOfSteps {
    const turn = this.#turn;
    return {
      taskId: this.taskId,
      seq: this.#turnSeq,
      attempt: turn.attempt,
      signal: turn.signal,
      assertAcceptsSteps: () => {
        if (turn.hasEnded || turn.isFenced) throw createTurnEndedError(this.taskId);
      },
      commitSteps: this.#host.commitSteps,
    };
  }

  /** A turn without a start point creates its task. */
  get #turnSeq(): number {
    return this.#turn.startPoint?.seq ?? 1;
  }

  loadReferencedTasks(): Promise<Task[]> {
    return this.#turn.relatedTasks.loadReferencedTasks();
  }

  listInterruptedTasks(): Promise<Task[]> {
    return this.#turn.relatedTasks.listInterruptedTasks();
  }
}
