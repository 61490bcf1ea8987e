import { Deferred } from "../base/data-structures/index.ts";
import {
  A2AError,
  copyTask,
  isInterrupted,
  isTerminal,
  type JsonObject,
  LogEvent,
  type Message,
  type Task,
  type TaskState,
} from "../protocol/index.ts";
import {
  foldLogEvents,
  hasLoggedEvent,
  type TaskScope,
  type TaskTurnStatus,
  type IdGenerator,
  isSameMessage,
  createDuplicateMessageIdError,
  createLogWentBackError,
  type InboundMessage,
  type TaskCancellation,
  type TaskFeed,
  TaskLogTail,
  type TaskMessageAcceptResult,
  type TaskStore,
  type RemoteTask,
  createTaskEndedError,
  isTurnStopEvent,
  type TurnProgress,
  type TurnStartPoint,
} from "../engine/index.ts";
import type { FollowedPosition, FollowedTaskChange, TaskRequest } from "./node-store.ts";
import {
  encodeCancelRequest,
  encodeMessageRequest,
  encodeReaderReport,
  type MessageAnswer,
  throwErrorOfAnswer,
} from "./owner-requests.ts";

/** The state of a task that a follower starts with. */
export interface FollowedTaskStart {
  readonly task: Task;
  readonly seq: number;
  readonly turnStatus: TaskTurnStatus;
}

/** What all followed tasks of a node share. */
interface FollowedTaskDependencies {
  readonly store: TaskStore;
  readonly generateId: IdGenerator;
  /** Sends a request to the node that runs the turn of the task. See `NodeLink.sendRequest`. */
  readonly sendRequest: (task: FollowedTask, request: TaskRequest) => Promise<JsonObject | undefined>;
  /** Reads the newest events of the task from the store. */
  readonly refresh: (task: FollowedTask) => Promise<void>;
  /** Called when a reader or a request retains an idle task. */
  readonly onActive: (task: FollowedTask) => void;
  /** Called when the last reader or request has released the task. */
  readonly onIdle: (task: FollowedTask) => void;
}

/**
 * A task whose turn this node does not run. The task repeats the log of the store: the `LogPoller` reads the new events,
 * whichever node has appended them. Messages and cancels become rows of the store, which the node of the turn reads.
 */
export class FollowedTask implements RemoteTask {
  readonly scope: TaskScope;
  readonly taskId: string;
  readonly tail: TaskLogTail = new TaskLogTail();
  /** Monotonic time in milliseconds of the next poll. */
  nextPollAt = 0;
  hasMoved = false;
  readonly #context: FollowedTaskDependencies;
  /** Resolves with the current feed of the task, or with `undefined` if the task is deleted. The caller must release it. */
  readonly reopen: () => Promise<TaskFeed | undefined>;
  readonly #turns = new Set<FollowedTurn>();
  #task: Task;
  #seq: number;
  #turnStatus: TaskTurnStatus;
  /** Sequence number of the last event in the store. */
  #lastStoredSeq: number;
  #userCount = 0;
  #failure: A2AError | undefined;
  #nextChange: Deferred | undefined;

  constructor(
    context: FollowedTaskDependencies,
    scope: TaskScope,
    start: FollowedTaskStart,
    reopen: () => Promise<TaskFeed | undefined>,
  ) {
    this.#context = context;
    this.reopen = reopen;
    this.scope = scope;
    this.taskId = start.task.id;
    this.#task = start.task;
    this.#seq = this.#lastStoredSeq = start.seq;
    this.#turnStatus = start.turnStatus;
  }

  get contextId(): string {
    return this.#task.contextId;
  }

  get seq(): number {
    return this.#seq;
  }

  get state(): TaskState {
    return this.#task.status.state;
  }

  /** Turn status in the store after the newest event. While the store has later events, the turn is unfinished. */
  get turnStatus(): TaskTurnStatus {
    return this.hasUnreadEvents && this.#turnStatus === "none" ? "running" : this.#turnStatus;
  }

  /** True if the store has more events than the last poll has read. */
  get hasUnreadEvents(): boolean {
    return this.#seq < this.#lastStoredSeq;
  }

  get hasUnfinishedTurn(): boolean {
    return this.turnStatus !== "none";
  }

  get isWaitingWithinTurn(): boolean {
    return this.hasUnfinishedTurn && isInterrupted(this.state);
  }

  get hasCommitFailed(): boolean {
    return this.#failure !== undefined;
  }

  get position(): FollowedPosition {
    const { scope, taskId } = this;
    return { scope, taskId, afterSeq: this.#seq, turnStatus: this.#turnStatus };
  }

  getSnapshot(): Task {
    return copyTask(this.#task);
  }

  hasEndedAtSeq(seq: number): boolean {
    return seq >= this.#seq && isTerminal(this.state);
  }

  waitForCommitOrTurnChange(): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    return (this.#nextChange ??= new Deferred()).promise;
  }

  retain(): this {
    if (this.#userCount++ === 0) this.#context.onActive(this);
    return this;
  }

  release(): void {
    if (--this.#userCount === 0) this.#context.onIdle(this);
  }

  retainForReader(): this {
    return this.retain();
  }

  releaseReader(): void {
    this.release();
  }

  /** Cancels the task on the node of its turn. Resolves with true if the task had ended before. */
  async cancelAndWait(cancellation: TaskCancellation): Promise<boolean> {
    if (isTerminal(this.state)) return true;
    const { generateId, sendRequest, refresh } = this.#context;
    const answer = await sendRequest(
      this,
      encodeCancelRequest(generateId(), this.scope, this.taskId, cancellation),
    );
    if (answer) throwErrorOfAnswer(answer);
    await refresh(this);
    return false;
  }

  reportReader(): void {
    const { generateId, sendRequest } = this.#context;
    const report = encodeReaderReport(generateId(), this.scope, this.taskId);
    // A lost report has no effect, because a reader reports itself several times per grace period.
    void sendRequest(this, report).catch(() => {});
  }

  /**
   * Sends a message to the running turn, to the queue of the task, or to the next turn, as the agent declares. Resolves
   * with `undefined` if the turn has ended without an answer, so that this node can accept the message.
   */
  async acceptMessage({
    request,
    caller,
    serviceParameters,
  }: InboundMessage): Promise<TaskMessageAcceptResult | undefined> {
    const { scope, taskId, contextId } = this;
    const { generateId, sendRequest, refresh } = this.#context;
    // Follow the turn before the other node can begin it.
    const turn = new FollowedTurn({ ...request.message, taskId, contextId });
    this.followTurn(turn);
    try {
      const payload = { request, caller, serviceParameters };
      const encoded = await sendRequest(this, encodeMessageRequest(generateId(), scope, taskId, payload));
      if (encoded) throwErrorOfAnswer(encoded);
      const answer = encoded as MessageAnswer | undefined;
      if (answer?.seq !== undefined && this.#seq < answer.seq) await refresh(this);
      const isQueued = answer?.action === "queue";
      // The turn can begin and even end before this node has read the answer.
      if (turn.hasBegun ? answer?.action !== "deliver" : isQueued) return { feed: this, turn, isQueued };
      this.unfollowTurn(turn);
      return answer && { feed: this.retain(), seq: answer.seq ?? this.#seq };
    } catch (error) {
      this.unfollowTurn(turn);
      throw error;
    }
  }

  /**
   * Resolves with the turn of a message that waits in the queue of the task, or with `undefined` if the message does not
   * wait. Rejects if another message with the same id waits.
   */
  async findQueuedTurn(message: Message): Promise<FollowedTurn | undefined> {
    const turn = new FollowedTurn({ ...message, taskId: this.taskId, contextId: this.contextId });
    // Follow the turn before the query, because the turn can begin and end during the query.
    return await this.#followWhile(turn, async () => {
      const stored = await this.#context.store.load(this.scope, this.taskId);
      const queued = stored?.queuedTurns?.find((entry) => entry.message.messageId === message.messageId);
      if (queued && !isSameMessage(message, queued.message)) throw createDuplicateMessageIdError(message);
      return queued !== undefined;
    });
  }

  /**
   * Resolves with the turn of the message with the sequence number `seq`, or with the running turn after it. Resolves with
   * `undefined` if the task waits or has ended, and for a stream, which reads the log.
   */
  async findRunningTurn(
    message: Message,
    seq: number,
    isStreaming = false,
  ): Promise<FollowedTurn | undefined> {
    if (isStreaming || !this.hasUnfinishedTurn) return undefined;
    return (await this.followUnlessStopped(message, seq)) ?? this.#followLaterTurn(message);
  }

  #followLaterTurn(message: Message): FollowedTurn | undefined {
    if (isInterrupted(this.state) || isTerminal(this.state)) return undefined;
    const turn = new FollowedTurn(message);
    turn.beginAtKnownSeq(this.#seq, this.getSnapshot());
    this.followTurn(turn);
    return turn;
  }

  /** Like `findRunningTurn`, also for a turn whose lease this node has not released yet. */
  async followUnlessStopped(message: Message, seq: number): Promise<FollowedTurn | undefined> {
    const turn = new FollowedTurn(message);
    return await this.#followWhile(turn, async () => {
      const readSeq = this.#seq;
      turn.beginAtKnownSeq(seq, this.getSnapshot());
      return !(await hasLoggedEvent(this.#context.store, this, seq, readSeq, isTurnStopEvent));
    });
  }

  /** Follows a turn, and continues to follow it only if `isUnfinished` resolves with true. */
  async #followWhile(
    turn: FollowedTurn,
    isUnfinished: () => Promise<boolean>,
  ): Promise<FollowedTurn | undefined> {
    this.followTurn(turn);
    let isFollowed = false;
    try {
      isFollowed = await isUnfinished();
    } finally {
      if (!isFollowed) this.unfollowTurn(turn);
    }
    return isFollowed ? turn : undefined;
  }

  /** Reports the progress of a turn that begins after the newest event. Keeps the task until the turn has ended. */
  followTurn(turn: FollowedTurn): void {
    this.#turns.add(turn);
    this.retain();
  }

  unfollowTurn(turn: FollowedTurn): void {
    if (this.#turns.delete(turn)) this.release();
  }

  /** Applies a change that the store has returned for `position`. */
  applyChange({ lastSeq, turnStatus, events }: FollowedTaskChange): void {
    this.#lastStoredSeq = lastSeq;
    this.#turnStatus = turnStatus;
    for (const event of events) {
      const task = foldLogEvents(this.taskId, this.#task, [event]);
      this.#task = task;
      this.#seq = event.seq;
      this.#applyToTurns(event, task);
    }
    if (events.length > 0) this.tail.add(events);
    this.#wakeWaiters();
  }

  #applyToTurns(event: LogEvent, task: Task): void {
    for (const turn of this.#turns) if (turn.applyEvent(event, task)) this.unfollowTurn(turn);
  }

  /** Replaces the task, because the store has deleted the events between. */
  replace({ task, seq, turnStatus }: FollowedTaskStart): void {
    this.#task = task;
    this.#seq = this.#lastStoredSeq = seq;
    this.#turnStatus = turnStatus;
    this.tail.clear();
    const { taskId, contextId } = this;
    // A turn can have ended with a deleted event.
    this.#applyToTurns(
      LogEvent.create(seq, { statusUpdate: { taskId, contextId, status: task.status } }),
      task,
    );
    this.#wakeWaiters();
  }

  /** Rejects all users of the task, because the store no longer has the task. */
  markErased(): void {
    this.#fail(A2AError.taskNotFound(this.taskId));
  }

  /** Rejects all users of the task, because the store has lost events that they have read. */
  markWentBack(lastSeq: number): void {
    this.#fail(createLogWentBackError(this.taskId, this.#seq, lastSeq));
  }

  /** Rejects all users of the task, because its log is invalid. */
  markInvalid(error: unknown): void {
    this.#fail(A2AError.from(error));
  }

  /** Makes all readers continue with another feed, because this node starts a turn of the task. */
  markMoved(): void {
    this.hasMoved = true;
    this.#wakeWaiters();
  }

  /** Rejects the requests that wait for a turn of the task, because this node stops. Readers keep the task. */
  endTurns(error: A2AError): void {
    for (const turn of this.#turns) {
      turn.end(error);
      this.unfollowTurn(turn);
    }
    this.#wakeWaiters();
  }

  #fail(error: A2AError): void {
    this.#failure = error;
    this.tail.clear();
    const change = this.#nextChange;
    this.#nextChange = undefined;
    change?.reject(error);
    this.endTurns(error);
  }

  #wakeWaiters(): void {
    const change = this.#nextChange;
    this.#nextChange = undefined;
    change?.resolve();
  }
}

/** A turn that another node runs or will run. Its progress comes from the events of the followed task. */
export class FollowedTurn implements TurnProgress {
  readonly message: Message;
  readonly durableSeq: Deferred<number> = new Deferred();
  readonly stoppedTask: Deferred<Task> = new Deferred();
  startPoint: TurnStartPoint | undefined;
  hasEnded = false;

  constructor(message: Message) {
    this.message = message;
  }

  get hasBegun(): boolean {
    return this.startPoint !== undefined;
  }

  /** Begins the turn at an event that the followed task already contains. */
  beginAtKnownSeq(seq: number, task: Task): void {
    this.startPoint = { task, seq };
    this.durableSeq.resolve(seq);
  }

  /** Applies an event of the task's log. `task` is the task after the event. Returns true once the turn has ended. */
  applyEvent(logEvent: LogEvent, task: Task): boolean {
    const { seq, event } = logEvent;
    if (!this.startPoint) {
      if ("message" in event && event.message.messageId === this.message.messageId) {
        this.startPoint = { task: copyTask(task), seq };
        this.durableSeq.resolve(seq);
      } else if (isTerminal(task.status.state)) this.end(createTaskEndedError(task.id, task.status.state));
      return this.hasEnded;
    }
    if (!("statusUpdate" in event)) return false;
    const { state } = event.statusUpdate.status;
    if (seq === this.startPoint.seq + 1 && state === "TASK_STATE_WORKING")
      this.startPoint = { ...this.startPoint, workingEvent: event };
    if (!isTurnStopEvent(logEvent)) return false;
    this.stoppedTask.resolve(copyTask(task));
    this.end();
    return true;
  }

  /** Ends the turn, and rejects the sender of the message if it still waits. */
  end(error?: unknown): void {
    this.hasEnded = true;
    if (error === undefined) return;
    this.durableSeq.reject(error);
    this.stoppedTask.reject(error);
  }
}
