import { Deferred } from "../base/data-structures/index.ts";
import { copyTask, isTerminal, type LogEvent, type Message, type Task } from "../protocol/index.ts";
import {
  isTurnStopEvent,
  readLog,
  createTaskEndedError,
  type TaskFeed,
  type TurnProgress,
  type TaskStore,
  type TurnStartPoint,
} from "../engine/index.ts";

/** Resolves with true if the log contains the end or an interruption of a turn with `afterSeq < seq <= untilSeq`. */
export async function hasTurnStopped(
  store: TaskStore,
  task: TaskFeed,
  afterSeq: number,
  untilSeq: number,
): Promise<boolean> {
  for await (const event of readLog(store, task, afterSeq, untilSeq)) if (isTurnStopEvent(event)) return true;
  return false;
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
