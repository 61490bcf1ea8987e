import { Deferred } from "../../data-structures/index.ts";
import {
  copyTask,
  fold,
  isEventRefusal,
  isInterrupted,
  isTerminal,
  LogEvent,
  type Message,
  type SendMessageRequest,
  type Task,
  type TaskEvent,
} from "../../protocol/index.ts";
import type { Caller, ServiceParameters, TaskScope } from "../caller.ts";
import { type Clock, formatTimestamp } from "../clock.ts";
import type { Committer, CommitWriter } from "../committer.ts";
import type { Observer } from "../observer.ts";
import { extractMessageWebhookRegistration } from "../push-notifications.ts";
import type { RunnerRegistry } from "../runner-registry.ts";
import { createCommitFailedError, createTaskEndedError } from "../task-errors.ts";
import type { AppendRefusal, LogAppend } from "../task-store.ts";
import { toStatusUpdate } from "../to-task-event.ts";
import { toTurnRestartData } from "../turn-restart-data.ts";
import { buildTaskWithTurnMessage } from "../turn-start.ts";
import type { FollowedTask } from "./followed-task.ts";
import { FollowedTurn } from "./followed-turn.ts";
import type { NodeLink } from "./node-link.ts";

interface TurnSubmitterDependencies {
  readonly committer: Committer;
  readonly clock: Clock;
  readonly link: NodeLink;
  readonly runners: RunnerRegistry;
  readonly observer: Observer;
  readonly deduplicateMessages: boolean;
}

/** A message whose turn another node will start. `message` contains the ids of its task and context. */
interface SubmittedMessage {
  readonly scope: TaskScope;
  readonly message: Message;
  readonly request: SendMessageRequest;
  readonly caller: Caller;
  readonly serviceParameters: ServiceParameters;
}

/** The task that receives the message, as the store has it. */
export interface SubmissionTarget {
  readonly task: Task;
  readonly seq: number;
  readonly epoch: number;
}

/**
 * Commits messages on a node that starts no agents. The committed turn has no lease, so that every node that starts
 * agents can claim the turn. The sender of the message follows the log of the task.
 */
export class TurnSubmitter {
  readonly #context: TurnSubmitterDependencies;

  constructor(context: TurnSubmitterDependencies) {
    this.#context = context;
  }

  /**
   * Commits a message that begins a turn of `target`, or of a new task. Rejects with the refusal as the cause if another
   * node has changed the task or has stored the message.
   */
  async submitTurn(
    submitted: SubmittedMessage,
    target?: SubmissionTarget,
  ): Promise<{ readonly feed: FollowedTask; readonly turn: FollowedTurn }> {
    const { runners, link } = this.#context;
    const { scope, message } = submitted;
    const begun = this.#beginTurn(target, message);
    const append = this.#buildAppend(submitted, begun, target);
    await this.#commit(append);
    const { seq } = append.events.at(-1) as LogEvent;
    const stored = { task: begun.task, seq, awaitsRecovery: false, runsOnOtherNode: true };
    const feed = await runners.followSubmittedTask(scope, stored);
    const turn = new FollowedTurn(message);
    turn.beginAtKnownSeq(append.expectedSeq + 1, begun.startTask, begun.workingEvent);
    feed.followTurn(turn);
    link.announceCommit(message.taskId as string);
    link.notifyWork();
    return { feed, turn };
  }

  #beginTurn(target: SubmissionTarget | undefined, message: Message): BegunTurn {
    const { taskId = "", contextId = "" } = message;
    if (target && isTerminal(target.task.status.state))
      throw createTaskEndedError(taskId, target.task.status.state);
    const ids = { taskId, contextId };
    const now = formatTimestamp(this.#context.clock.now());
    const { timestamp: last = now } = target?.task.status ?? {};
    const timestamp = now < last ? last : now;
    const current = target && copyTask(target.task);
    const startTask = buildTaskWithTurnMessage(current, ids, message, timestamp);
    if (!target) return { events: [{ task: startTask }], task: startTask, startTask };
    if (!isInterrupted(target.task.status.state))
      return { events: [{ message }], task: copyTask(startTask), startTask };
    const workingEvent = toStatusUpdate(ids, "TASK_STATE_WORKING", timestamp);
    const task = fold(copyTask(startTask), workingEvent);
    if (!isEventRefusal(task)) return { events: [{ message }, workingEvent], task, startTask, workingEvent };
    throw createTaskEndedError(taskId, target.task.status.state);
  }

  #buildAppend(
    { scope, message, request, caller, serviceParameters }: SubmittedMessage,
    { events, task }: BegunTurn,
    target: SubmissionTarget | undefined,
  ): LogAppend {
    const expectedSeq = target?.seq ?? 0;
    const seq = expectedSeq + 1;
    const webhook = extractMessageWebhookRegistration(request, task.id, serviceParameters);
    const turn = toTurnRestartData(
      {
        request,
        serviceParameters,
        caller,
        attempt: 0,
        excusedAttempts: 0,
        groupSize: undefined,
        span: undefined,
        spanStartedAt: undefined,
      },
      seq,
    );
    const { state, timestamp = "" } = task.status;
    return {
      scope,
      taskId: task.id,
      contextId: task.contextId,
      expectedSeq,
      events: events.map((event, at) => LogEvent.create(seq + at, event)),
      status: { state, timestamp },
      messages: this.#context.deduplicateMessages ? [{ messageId: message.messageId, seq }] : [],
      ...(webhook ? { webhooks: [webhook] } : {}),
      turn,
      epoch: target?.epoch ?? 0,
      hasRunningTurn: true,
      releasesLease: true,
    };
  }

  async #commit(append: LogAppend): Promise<void> {
    const source = new SingleAppend(append);
    this.#context.committer.enqueue(source, true);
    await source.committed.promise;
    const { observer } = this.#context;
    const { scope, taskId } = append;
    for (const event of append.events) observer.onEvent?.({ scope, taskId, event });
  }
}

/** The events that begin a turn, the task after these events, and the task after the message. */
interface BegunTurn {
  readonly events: readonly TaskEvent[];
  readonly task: Task;
  readonly startTask: Task;
  readonly workingEvent?: TaskEvent;
}

/** An append that is committed together with the events of the running tasks. */
class SingleAppend implements CommitWriter {
  readonly committed: Deferred = new Deferred();
  readonly #taskId: string;
  #append: LogAppend | undefined;

  constructor(append: LogAppend) {
    this.#taskId = append.taskId;
    this.#append = append;
  }

  takePendingAppend(): LogAppend | undefined {
    const append = this.#append;
    this.#append = undefined;
    return append;
  }

  onCommitted(): void {
    this.committed.resolve();
  }

  onCommitFailed(reason: AppendRefusal | Error): void {
    this.committed.reject(createCommitFailedError(this.#taskId, reason));
  }
}
