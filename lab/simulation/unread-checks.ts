import type { TaskState } from "../../src/protocol/index.ts";
import { isInterrupted } from "../../src/protocol/index.ts";

/** Part of the reason with which the engine aborts a turn that no client waits for. */
const UNREAD_REASON = "no client waits for it";
/** Time in milliseconds without a reader before a turn is canceled. */
const GRACE_MS = 30_000;
/** Interval in milliseconds of the reports of a reader on another node. */
const REPORT_MS = 10_000;
/** Time in milliseconds for statements and timers of nodes without faults. */
const SLACK_MS = 5000;

/** The process that a reader is connected to. */
interface ReaderProcess {
  readonly isAlive: boolean;
  readonly store: { readonly node: string };
}

/** An open stream. */
interface Reader {
  readonly process: ReaderProcess;
  readonly taskId: string;
  readonly openedAt: number;
}

/** An execution of the agent, as far as these checks need it. */
interface RunningExecution {
  readonly node: string;
  readonly abortedAt: number | undefined;
  readonly isEnded: boolean;
  readonly hasLease: boolean;
}

/** Records of the other checks. */
interface KnownTasks {
  readonly getTime: () => number;
  readonly breakPromise: (text: string) => void;
  readonly findTask: (
    taskId: string,
  ) => { readonly hasWebhook: boolean; readonly states: readonly TaskState[] } | undefined;
  /** Returns the task of a message that the log or a queue contains. */
  readonly findTaskOfMessage: (messageId: string) => string | undefined;
  readonly listExecutions: (taskId: string) => readonly RunningExecution[];
}

/** Checks that exactly the turns that no client waits for are canceled (`whenUnread: "cancel"`, E24). */
export class UnreadChecks {
  readonly #known: KnownTasks;
  readonly #isEnabled: boolean;
  readonly #streams = new Set<Reader>();
  /** Messages of open requests that wait for the end of a turn, by request. */
  readonly #openRequests = new Set<{ readonly messageId: string }>();
  /** Messages and tasks that have ever had a reader. */
  readonly #readMessageIds = new Set<string>();
  readonly #readTaskIds = new Set<string>();
  /** Number of streams that each task has ever had. */
  readonly #streamCounts = new Map<string, number>();
  #disturbedUntil = 0;

  constructor(known: KnownTasks, isEnabled: boolean) {
    this.#known = known;
    this.#isEnabled = isEnabled;
  }

  /** Records a fault, during which reports of readers can be lost. */
  recordFault(ms: number): void {
    this.#disturbedUntil = Math.max(this.#disturbedUntil, this.#known.getTime() + ms);
  }

  /** Records the end of all faults, after which statements are still on their way for `ms` milliseconds. */
  endFaults(ms: number): void {
    this.#disturbedUntil = this.#known.getTime() + ms;
  }

  /** Records a request that waits for the end of its turn. Returns a function that records its end. */
  openRequest(messageId: string): () => void {
    const request = { messageId };
    this.#readMessageIds.add(messageId);
    this.#openRequests.add(request);
    return () => void this.#openRequests.delete(request);
  }

  /** Records a subscription before its first event. The task has a reader, even if the subscription fails. */
  recordSubscription(taskId: string): void {
    this.#readTaskIds.add(taskId);
    this.#streamCounts.set(taskId, (this.#streamCounts.get(taskId) ?? 0) + 1);
  }

  /** Records an open stream. Returns a function that records its end. */
  openStream(process: ReaderProcess, taskId: string): () => void {
    this.recordSubscription(taskId);
    const reader = { process, taskId, openedAt: this.#known.getTime() };
    this.#streams.add(reader);
    return () => void this.#streams.delete(reader);
  }

  /** Checks the abort of an execution, if its reason is that no client waits for the turn. */
  checkAbort(node: string, taskId: string, reason: unknown): void {
    if (!String(reason).includes(UNREAD_REASON)) return;
    const fail = (text: string): void =>
      this.#known.breakPromise(`unread task ${taskId} is canceled: ${text}`);
    if (!this.#isEnabled) return fail("the agent continues unread turns");
    if (this.#known.findTask(taskId)?.hasWebhook) fail("it has a webhook");
    const isRead = (messageId: string): boolean => this.#known.findTaskOfMessage(messageId) === taskId;
    if (!this.#readTaskIds.has(taskId) && ![...this.#readMessageIds].some(isRead)) fail("it had no reader");
    const now = this.#known.getTime();
    // The last report of a reader is at most one interval old, unless a fault has delayed it.
    const isUndisturbed = now - REPORT_MS - 3 * SLACK_MS > this.#disturbedUntil;
    for (const { process, openedAt } of this.#listStreams(taskId)) {
      const isLocal = process.store.node === node;
      const isReported = isUndisturbed && now - openedAt > REPORT_MS + 2 * SLACK_MS;
      if (isLocal || isReported) fail(`a reader of node ${process.store.node} waits for it`);
    }
  }

  /**
   * Expects the cancellation of a task's turn if its last reader has just left. `schedule` calls the check later. The
   * check accepts a turn that has ended, a new reader, a question, and a fault.
   */
  watchLastReader(
    process: ReaderProcess,
    taskId: string,
    schedule: (ms: number, check: () => void) => void,
  ): void {
    const { node } = process.store;
    const execution = this.#findExecution(node, taskId);
    const task = this.#known.findTask(taskId);
    if (!this.#isEnabled || !execution || !task || task.hasWebhook || this.#hasReader(taskId)) return;
    if (this.#isDisturbed()) return;
    const streamCount = this.#streamCounts.get(taskId);
    const eventCount = task.states.length;
    schedule(GRACE_MS + REPORT_MS + SLACK_MS, () => {
      const isSame = this.#findExecution(node, taskId) === execution && process.isAlive;
      const hasAsked = task.states.slice(eventCount - 1).some(isInterrupted);
      if (!isSame || hasAsked || this.#hasReader(taskId) || this.#isDisturbed()) return;
      if (this.#streamCounts.get(taskId) !== streamCount) return;
      this.#known.breakPromise(`task ${taskId} of node ${node} continues, although no client waits for it`);
    });
  }

  #isDisturbed(): boolean {
    return this.#known.getTime() <= this.#disturbedUntil;
  }

  #findExecution(node: string, taskId: string): RunningExecution | undefined {
    return this.#known
      .listExecutions(taskId)
      .find((one) => one.node === node && one.hasLease && !one.isEnded && one.abortedAt === undefined);
  }

  #hasReader(taskId: string): boolean {
    const isOfTask = ({ messageId }: { readonly messageId: string }): boolean =>
      this.#known.findTaskOfMessage(messageId) === taskId;
    return this.#listStreams(taskId).length > 0 || [...this.#openRequests].some(isOfTask);
  }

  #listStreams(taskId: string): Reader[] {
    return [...this.#streams].filter((one) => one.taskId === taskId && one.process.isAlive);
  }
}
