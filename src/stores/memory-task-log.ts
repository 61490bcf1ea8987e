import { countUtf8Bytes, type SlotReuseMap } from "../base/data-structures/index.ts";
import type { FinishedStep, LogAppend, QueuedTurnData, TaskScope, TurnRestartData } from "../engine/index.ts";
import type { Webhook } from "../webhooks/index.ts";
import { copyTask, type Task, type TaskState } from "../protocol/index.ts";
import { foldLoggedEvents, iterateLoggedEvents, type LogLines } from "./logged-events.ts";
import type { MemoryTaskListIndex } from "./memory-task-list-index.ts";
import { restoreTask } from "./restore-task.ts";

const COPY_ON_APPEND_MAX_LOG_LENGTH = 16;
/** Approximate maximum size of a text in characters, so that a reader need not parse a long log at once. */
const MAX_TEXT_LENGTH = 64 * 1024;
/** Measured size of the objects that the store keeps for a stopped task, without its ids and texts. */
const HEAP_BYTES_PER_TASK = 1_000;
/** Size of the objects of a row, without its text. */
const HEAP_BYTES_PER_ROW = 80;
const NO_QUEUED_TURNS: readonly QueuedTurnData[] = [];
const NO_STEPS: readonly FinishedStep[] = [];

/** The tasks and messages of one scope. */
export interface MemoryScopeData {
  readonly scope: TaskScope;
  readonly key: string;
  readonly logs: SlotReuseMap<MemoryTaskLog>;
  readonly messages: SlotReuseMap<{ taskId: string; seq: number }>;
  /** Index for task lists, once the tasks of the scope have been listed. */
  listIndex: MemoryTaskListIndex<MemoryTaskLog> | undefined;
  /** Number of webhooks that may need deliveries. */
  owingWebhooks: number;
}

/** A webhook of a task, and the time of its next attempt in milliseconds since 1970, or 0. */
export interface MemoryWebhook {
  webhook: Webhook;
  readonly log: MemoryTaskLog;
  dueAt: number;
}

/**
 * The event log of a task. As in a database, the events of an append are JSON lines in one text, because the garbage
 * collector copies a text faster than about 50 objects.
 */
export interface MemoryTaskLog {
  readonly scopeData: MemoryScopeData;
  readonly taskId: string;
  readonly contextId: string;
  /**
   * The events after the deleted events, oldest first. Each append to a short list creates a new array, because an array
   * that grows by `push` reserves up to four times the required memory.
   */
  rows: LogLines[];
  /** The task after the deleted events as JSON, if the log has deleted events. */
  snapshot: { readonly seq: number; readonly json: string; readonly artifactReferences: null } | undefined;
  seq: number;
  /** The task after the event `seq`, if the task is running and the store has folded its log. */
  folded: { readonly seq: number; readonly task: Task } | undefined;
  /** The words of the task after its last turn, if the store searches text. */
  words: string | undefined;
  /** Ids of the caller's messages in the log. */
  messageIds: string[];
  webhooks: Map<string, MemoryWebhook> | undefined;
  state: TaskState;
  timestamp: string;
  turn: TurnRestartData | undefined;
  /** Finished steps of the running turn. */
  steps: readonly FinishedStep[];
  queuedTurns: readonly QueuedTurnData[];
  epoch: number;
  hasRunningTurn: boolean;
  /** True while this process holds the lease of the task. */
  isLeased: boolean;
  /** Size of the texts in bytes. */
  textBytes: number;
  /** Position in the order in which tasks ended or started to wait. */
  stopOrder: number;
  /** Size of the stopped task in bytes. */
  size: number;
  /** Position in the set of the tasks that need recovery. */
  slot: number;
}

export function createMemoryTaskLog(
  scopeData: MemoryScopeData,
  { taskId, contextId, status, epoch }: LogAppend,
): MemoryTaskLog {
  return {
    scopeData,
    taskId,
    contextId,
    rows: [],
    snapshot: undefined,
    seq: 0,
    folded: undefined,
    words: undefined,
    messageIds: [],
    webhooks: undefined,
    state: status.state,
    timestamp: status.timestamp,
    turn: undefined,
    steps: NO_STEPS,
    queuedTurns: NO_QUEUED_TURNS,
    epoch,
    hasRunningTurn: false,
    isLeased: false,
    textBytes: 0,
    stopOrder: 0,
    size: 0,
    slot: -1,
  };
}

/** Appends the events, messages, turn, and queue change of an append to the log, but does not change its status. */
export function appendToMemoryTaskLog(log: MemoryTaskLog, append: LogAppend): void {
  const { messages, turn, steps, queueChange, hasRunningTurn, releasesLease } = append;
  appendEvents(log, append);
  for (const { messageId, wasQueued } of messages)
    if (!wasQueued) log.messageIds = [...log.messageIds, messageId];
  if (turn !== undefined) log.turn = turn ?? undefined;
  if (turn === null) log.steps = NO_STEPS;
  if (steps) log.steps = replaceSteps(log.steps, steps);
  if (queueChange) {
    const { added, removedThrough = 0 } = queueChange;
    log.queuedTurns = [...log.queuedTurns, ...added].filter(({ position }) => position > removedThrough);
  }
  if (hasRunningTurn !== undefined) log.hasRunningTurn = log.isLeased = hasRunningTurn;
  if (releasesLease) log.isLeased = false;
  if (!log.hasRunningTurn) log.folded = undefined;
}

function appendEvents(log: MemoryTaskLog, { events, committedAt }: LogAppend): void {
  let texts: string[] = [];
  let length = 0;
  const addRow = (): void => {
    // `join` creates a flat text, which the garbage collector copies at once.
    const row = { seq: log.seq, lines: texts.join("\n"), committedAt };
    if (log.rows.length < COPY_ON_APPEND_MAX_LOG_LENGTH) log.rows = [...log.rows, row];
    else log.rows.push(row);
    log.textBytes += measureText(row.lines);
    texts = [];
    length = 0;
  };
  for (const { jsonText } of events) {
    if (length > 0 && length + jsonText.length > MAX_TEXT_LENGTH) addRow();
    texts.push(jsonText);
    length += jsonText.length;
    log.seq++;
  }
  if (texts.length > 0) addRow();
}

/** Returns the stored and the new steps. A new step replaces the stored step with the same turn and key. */
function replaceSteps(stored: readonly FinishedStep[], added: readonly FinishedStep[]): FinishedStep[] {
  const isReplaced = ({ turnSeq, key }: FinishedStep): boolean =>
    added.some((step) => step.key === key && step.turnSeq === turnSeq);
  return [...stored.filter((step) => !isReplaced(step)), ...added];
}

/** Changes the status of a task, and moves the task in the list index of its scope. */
export function updateMemoryTaskStatus(log: MemoryTaskLog, { state, timestamp }: LogAppend["status"]): void {
  if (log.state === state && log.timestamp === timestamp) return;
  const { listIndex } = log.scopeData;
  listIndex?.remove(log);
  log.state = state;
  log.timestamp = timestamp;
  listIndex?.add(log);
}

/** Returns the size of a stopped task in bytes. */
export function measureStoppedTask(log: MemoryTaskLog): number {
  let size = HEAP_BYTES_PER_TASK + HEAP_BYTES_PER_ROW * log.rows.length + log.textBytes;
  size += log.taskId.length + log.contextId.length;
  for (const messageId of log.messageIds) size += messageId.length;
  if (log.words !== undefined) size += measureText(log.words);
  return size;
}

/** Returns the size of a text in V8's memory. A text that is not ASCII counts two bytes for each character. */
function measureText(text: string): number {
  return countUtf8Bytes(text) === text.length ? text.length : 2 * text.length;
}

/** Replaces the events of the log with the current task. */
export function replaceEventsWithTask(log: MemoryTaskLog): void {
  const json = JSON.stringify(foldCurrentTask(log));
  log.snapshot = { seq: log.seq, json, artifactReferences: null };
  log.textBytes = measureText(json);
  log.rows = [];
}

/** Yields the rows with the events after the sequence number `after`, without a look at the rows before. */
export function* iterateRowsAfter({ rows }: MemoryTaskLog, after: number): Generator<LogLines> {
  let start = 0;
  for (let end = rows.length; start < end;) {
    const middle = (start + end) >> 1;
    if ((rows[middle] as LogLines).seq > after) end = middle;
    else start = middle + 1;
  }
  for (; start < rows.length; start++) yield rows[start] as LogLines;
}

/** Folds the log into the current task. A running task keeps a copy, so that the next call folds only the new events. */
export function foldCurrentTask(log: MemoryTaskLog): Task {
  const { folded, snapshot, rows, seq } = log;
  const task = folded
    ? (foldLoggedEvents(
        folded.task,
        iterateLoggedEvents(iterateRowsAfter(log, folded.seq), folded.seq),
      ) as Task)
    : restoreTask(snapshot, () => rows).task;
  if (!log.hasRunningTurn) return task;
  log.folded = { seq, task };
  return copyTask(task);
}
