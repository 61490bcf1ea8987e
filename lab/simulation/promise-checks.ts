import type { LogAppend, TaskScope } from "../../src/engine/index.ts";
import { isTerminal, type LogEvent, type Message, type TaskState } from "../../src/protocol/index.ts";
import type { AgentPolicy } from "./scripted-agent.ts";
import { readScriptOutput } from "./scripted-output.ts";
import { StepChecks } from "./step-checks.ts";
import { SuspectChecks } from "./suspect-checks.ts";
import { UnreadChecks } from "./unread-checks.ts";
import { ALICE } from "./callers.ts";

/** Begin of the status message of a turn whose node died in too many attempts. */
const TOO_MANY_ATTEMPTS_TEXT = "The server stopped in each of";

/** A promise of the engine that the simulated system has broken. */
export interface BrokenPromise {
  /** Ids of the promise, for example `E7`. */
  readonly promise: string;
  readonly text: string;
}

/** A task as the checks know it, from the accepted appends alone. */
export interface TaskHistory {
  readonly taskId: string;
  readonly scope: TaskScope;
  readonly events: LogEvent[];
  /** State of the task after each event. */
  readonly states: TaskState[];
  timestamp: string;
  epoch: number;
  holder: string | undefined;
  isRunning: boolean;
  hasWebhook: boolean;
  /** Attempt and position of the last output, by the message of its turn. */
  readonly outputs: Map<string, { attempt: number; position: number }>;
  /** Time of each event, in milliseconds since the start of the simulation. */
  readonly times: number[];
}

/** An execution of the agent. */
export class AgentExecution {
  readonly node: string;
  readonly steps: StepChecks;
  readonly #getTime: () => number;
  /** Time at which the signal of the agent aborted, or `undefined`. */
  abortedAt: number | undefined;
  isEnded = false;
  /** False once a node has claimed the task, so that no lease excludes another execution any more. */
  hasLease = true;

  readonly #onAbort: (reason: unknown) => void;

  constructor(node: string, steps: StepChecks, getTime: () => number, onAbort: (reason: unknown) => void) {
    this.node = node;
    this.steps = steps;
    this.#getTime = getTime;
    this.#onAbort = onAbort;
  }

  abort(reason: unknown): void {
    this.abortedAt ??= this.#getTime();
    this.#onAbort(reason);
  }
}

/**
 * Checks the promises of the engine (E1–E24) after each change of the database, from the accepted appends and from the
 * statements of leases. The checks have a record of their own, and do not trust the database.
 */
export class PromiseChecks {
  /** The first promise that was broken. */
  broken: BrokenPromise | undefined;
  readonly histories: Map<string, TaskHistory> = new Map();
  /** Task of each message in a log, by scope and id. */
  readonly loggedMessages: Map<string, string> = new Map();
  readonly discardedMessages: Set<string> = new Set();
  readonly steps: StepChecks = new StepChecks((text) => this.breakPromise("E18", text));
  readonly suspects: SuspectChecks;
  readonly unread: UnreadChecks;
  /** Messages that the store has queued, by scope and id. */
  readonly queuedMessages: Map<string, string> = new Map();
  /** End of the leases of each node. */
  readonly #leaseEnds = new Map<string, number>();
  readonly #executions = new Map<string, AgentExecution[]>();
  readonly #getTime: () => number;
  readonly #cancelGraceMs: number;
  /** How the agent continues a turn after the end of its process. */
  readonly #afterRestart: "fail" | "restart" | "resume";

  constructor(
    getTime: () => number,
    cancelGraceMs: number,
    { afterRestart, whenUnread }: Pick<AgentPolicy, "afterRestart" | "whenUnread">,
  ) {
    this.#getTime = getTime;
    this.#cancelGraceMs = cancelGraceMs;
    this.#afterRestart = afterRestart;
    this.unread = new UnreadChecks(
      {
        getTime,
        breakPromise: (text) => this.breakPromise("E24", text),
        findTask: (taskId) => this.histories.get(taskId),
        findTaskOfMessage: (messageId) => {
          const key = toMessageKey(ALICE, messageId);
          return this.loggedMessages.get(key) ?? this.queuedMessages.get(key);
        },
        listExecutions: (taskId) => this.#executions.get(taskId) ?? [],
      },
      whenUnread === "cancel",
    );
    this.suspects = new SuspectChecks(getTime, (text) => this.breakPromise("E17", text));
  }

  /** Records a broken promise, which ends the simulation. */
  breakPromise(promise: string, text: string): void {
    this.broken ??= { promise, text };
  }

  checkAppend(node: string, append: LogAppend): void {
    const { taskId, scope, expectedSeq, events, epoch, hasRunningTurn, queueChange } = append;
    const history = this.histories.get(taskId) ?? createTaskHistory(taskId, scope, epoch);
    this.histories.set(taskId, history);
    if (expectedSeq !== history.events.length)
      return this.breakPromise(
        "E1",
        `task ${taskId} has ${history.events.length} events, and accepts number ${expectedSeq + 1}`,
      );
    if (epoch !== history.epoch)
      return this.breakPromise(
        "E9, E11",
        `task ${taskId} accepts an append of epoch ${epoch} in epoch ${history.epoch}`,
      );
    if (history.isRunning && history.holder !== node)
      return this.breakPromise(
        "E11",
        `task ${taskId} of node ${history.holder} accepts an append of node ${node}`,
      );
    for (const event of events) this.#checkEvent(history, event);
    this.suspects.recordAppend(node, append);
    if (append.incrementsEpoch) history.epoch++;
    history.isRunning = hasRunningTurn ?? history.isRunning;
    history.holder = history.isRunning ? node : undefined;
    if (append.releasesLease) this.checkRelease(node, taskId);
    if (append.webhooks && append.webhooks.length > 0) history.hasWebhook = true;
    this.#recordQueueChange(history, queueChange);
  }

  #recordQueueChange(history: TaskHistory, change: LogAppend["queueChange"]): void {
    for (const { message } of change?.added ?? []) {
      const key = toMessageKey(history.scope, message.messageId);
      if (
        this.queuedMessages.has(key) ||
        (this.loggedMessages.has(key) && this.loggedMessages.get(key) !== history.taskId)
      )
        return this.breakPromise("E10", `message ${message.messageId} is queued twice`);
      this.queuedMessages.set(key, history.taskId);
    }
  }

  #checkEvent(history: TaskHistory, logEvent: LogEvent): void {
    const { taskId, events, states } = history;
    const { seq, event } = logEvent;
    if (seq !== events.length + 1)
      return this.breakPromise("E1", `task ${taskId} stores event ${seq} after ${events.length}`);
    const state = states.at(-1);
    if (state !== undefined && isTerminal(state))
      return this.breakPromise("E7", `task ${taskId} is ${state} and stores event ${seq}`);
    const status =
      "statusUpdate" in event ? event.statusUpdate.status : "task" in event ? event.task.status : undefined;
    const timestamp = status?.timestamp ?? "";
    if (status && timestamp < history.timestamp)
      return this.breakPromise("E16", `task ${taskId} goes back from ${history.timestamp} to ${timestamp}`);
    if (status) history.timestamp = timestamp;
    const [part] = status?.message?.parts ?? [];
    if (part && "text" in part && part.text.startsWith(TOO_MANY_ATTEMPTS_TEXT))
      this.suspects.checkFailure(taskId);
    if ("message" in event) this.#checkMessage(history, event.message);
    if ("task" in event) for (const message of event.task.history ?? []) this.#checkMessage(history, message);
    if ("artifactUpdate" in event)
      for (const part of event.artifactUpdate.artifact.parts)
        if ("text" in part) this.#checkOutput(history, part.text);
    const discarded =
      "statusUpdate" in event ? event.statusUpdate.metadata?.["colloquy:discardedMessageIds"] : undefined;
    if (Array.isArray(discarded))
      for (const id of discarded as string[]) this.discardedMessages.add(toMessageKey(history.scope, id));
    events.push(logEvent);
    history.times.push(this.#getTime());
    states.push(status?.state ?? state ?? "TASK_STATE_UNSPECIFIED");
  }

  #checkMessage({ scope, taskId }: TaskHistory, { messageId, role }: Message): void {
    if (role !== "ROLE_USER") return;
    const key = toMessageKey(scope, messageId);
    const earlier = this.loggedMessages.get(key);
    if (earlier !== undefined)
      return this.breakPromise(
        "E10",
        `message ${messageId} is in the logs of the tasks ${earlier} and ${taskId}`,
      );
    this.loggedMessages.set(key, taskId);
    this.queuedMessages.delete(key);
  }

  /** Checks that no output is lost, repeated, or written by an attempt that another attempt has replaced. */
  #checkOutput({ taskId, outputs }: TaskHistory, text: string): void {
    for (const { messageId, attempt, position } of readScriptOutput(text)) {
      const last = outputs.get(messageId) ?? { attempt: 0, position: -1 };
      if (attempt < last.attempt)
        return this.breakPromise(
          "E9, E11",
          `task ${taskId} stores output of attempt ${attempt} after attempt ${last.attempt}`,
        );
      const startsAnew = attempt > last.attempt && this.#afterRestart === "restart";
      const expected = startsAnew ? 0 : last.position + 1;
      if (position !== expected)
        return this.breakPromise(
          "E1, E9",
          `task ${taskId} stores output ${position} instead of ${expected} of message ${messageId} in attempt ${attempt}`,
        );
      outputs.set(messageId, { attempt, position });
    }
  }

  recordRenewal(node: string, leaseMs: number): void {
    // The clocks of nodes have different rates.
    this.#leaseEnds.set(node, this.#getTime() + 0.99 * leaseMs);
  }

  recordNodeEnd(node: string): void {
    this.#leaseEnds.delete(node);
  }

  checkClaim(node: string, { taskId }: { readonly taskId: string }): void {
    const history = this.histories.get(taskId);
    if (!history) return this.breakPromise("E1", `node ${node} claims the unknown task ${taskId}`);
    if (!history.isRunning)
      return this.breakPromise("E9", `node ${node} claims task ${taskId} without a running turn`);
    if (history.holder !== undefined && this.isNodeLeased(history.holder))
      return this.breakPromise(
        "E11, E21",
        `node ${node} claims task ${taskId} of the living node ${history.holder}`,
      );
    history.epoch++;
    history.holder = node;
    for (const execution of this.#executions.get(taskId) ?? []) execution.hasLease = false;
  }

  isNodeLeased(node: string): boolean {
    return (this.#leaseEnds.get(node) ?? 0) > this.#getTime();
  }

  /** Checks that a node releases no task whose agent may still be running under this lease. */
  checkRelease(node: string, taskId: string): void {
    const history = this.histories.get(taskId);
    if (history) history.holder = undefined;
    for (const execution of this.#executions.get(taskId) ?? []) {
      const { abortedAt, isEnded, hasLease } = execution;
      // The clocks of nodes have different rates.
      const hasIgnoredAbort =
        abortedAt !== undefined && this.#getTime() - abortedAt >= 0.99 * this.#cancelGraceMs;
      if (execution.node === node && hasLease && !isEnded && !hasIgnoredAbort)
        return this.breakPromise("E11", `node ${node} releases task ${taskId} while its agent is running`);
    }
  }

  /** Checks that a node runs at most one agent of a task, and returns the record of the new execution. */
  startExecution(node: string, taskId: string): AgentExecution {
    const executions = this.#executions.get(taskId) ?? [];
    this.#executions.set(taskId, executions);
    for (const other of executions)
      if (other.node === node && !other.isEnded && other.abortedAt === undefined)
        this.breakPromise("E11", `node ${node} runs task ${taskId} twice at once`);
    const execution = new AgentExecution(node, this.steps, this.#getTime, (reason) =>
      this.unread.checkAbort(node, taskId, reason),
    );
    executions.push(execution);
    return execution;
  }

  /** Returns true if an agent has not ended on one of the nodes. */
  hasRunningAgent(nodes: ReadonlySet<string>): boolean {
    const executions = [...this.#executions.values()].flat();
    return executions.some(({ node, isEnded }) => !isEnded && nodes.has(node));
  }

  /** Checks an event that a reader has received. */
  checkReadEvent(taskId: string, { seq, jsonText }: LogEvent, isSnapshot: boolean): void {
    const logged = this.histories.get(taskId)?.events[seq - 1];
    if (!logged)
      return this.breakPromise("E1", `a reader of task ${taskId} receives event ${seq} before its commit`);
    if (!isSnapshot && logged.jsonText !== jsonText)
      return this.breakPromise(
        "E1, E3",
        `a reader of task ${taskId} receives another event ${seq} than the log contains`,
      );
  }
}

function createTaskHistory(taskId: string, scope: TaskScope, epoch: number): TaskHistory {
  return {
    taskId,
    scope,
    events: [],
    states: [],
    timestamp: "",
    epoch,
    holder: undefined,
    isRunning: false,
    hasWebhook: false,
    outputs: new Map(),
    times: [],
  };
}

export function toMessageKey({ principal }: Pick<TaskScope, "principal">, messageId: string): string {
  return `${principal} ${messageId}`;
}
