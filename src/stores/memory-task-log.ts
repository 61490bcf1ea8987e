import { countUtf8Bytes, type SlotReuseMap } from "../base/data-structures/index.ts";
import type { FinishedStep, LogAppend, QueuedTurnData, TaskScope, TurnRestartData } from "../engine/index.ts";
import { copyTask, LogEvent, type Task, type TaskState } from "../protocol/index.ts";
import { foldLoggedEvents } from "./logged-events.ts";
import type { MemoryTaskListIndex } from "./memory-task-list-index.ts";

const COPY_ON_APPEND_MAX_LOG_LENGTH = 16;
/** Approximate maximum size of a packed text in characters, so that a reader need not unpack a long log at once. */
const MAX_PACKED_TEXT_LENGTH = 64 * 1024;
/** Measured size of the objects that the store keeps for a packed task, without its ids and texts. */
const HEAP_BYTES_PER_TASK = 1_000;
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
}

/** Consecutive events of a log as lines of JSON text. */
interface PackedEvents {
  readonly text: string;
  readonly lastSeq: number;
}

/**
 * The event log of a task. The events of a running task are objects. When the task stops, `packTaskLog` replaces
 * them with one text, because the garbage collector copies a text faster than about 50 objects.
 */
export interface MemoryTaskLog {
  readonly scopeData: MemoryScopeData;
  readonly taskId: string;
  readonly contextId: string;
  /** The events between the deleted events and the events in `events`, oldest first. */
  packedEvents: readonly PackedEvents[];
  /** Sequence number of the last packed event, or the number of deleted events. */
  packedThroughSeq: number;
  /**
   * The newest events. Each append to a short list creates a new array, because an array that grows by `push`
   * reserves up to four times the required memory.
   */
  events: LogEvent[];
  /** JSON text of the task after the deleted events, if the log has deleted events. */
  packedTask: string | undefined;
  /** The words of the task after its last turn, if the store searches text. */
  words: string | undefined;
  /** Number of events at the start of the log that the store has deleted. */
  deletedCount: number;
  /** The task after the first `foldedCount` events, if the store has folded the log since its last packing. */
  task: Task | undefined;
  foldedCount: number;
  /** Ids of the caller's messages in the log. */
  messageIds: string[];
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
  /** Size of the packed texts in bytes. */
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
    packedEvents: [],
    packedThroughSeq: 0,
    events: [],
    packedTask: undefined,
    words: undefined,
    deletedCount: 0,
    task: undefined,
    foldedCount: 0,
    messageIds: [],
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

export function getLastSeq({ packedThroughSeq, events }: MemoryTaskLog): number {
  return packedThroughSeq + events.length;
}

export function hasEvents({ packedEvents, events }: MemoryTaskLog): boolean {
  return packedEvents.length > 0 || events.length > 0;
}

/** Appends the events, messages, turn, and queue change of an append to the log, but does not change its status. */
export function appendToMemoryTaskLog(log: MemoryTaskLog, append: LogAppend): void {
  const { events, messages, turn, steps, queueChange, hasRunningTurn, releasesLease } = append;
  if (log.events.length < COPY_ON_APPEND_MAX_LOG_LENGTH) log.events = [...log.events, ...events];
  else for (const event of events) log.events.push(event);
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

/** Replaces the event objects of the log with texts. */
export function packTaskLog(log: MemoryTaskLog): void {
  log.task = undefined;
  log.foldedCount = 0;
  let lines: string[] = [];
  let length = 0;
  const addText = (): void => {
    // JSON text contains no line breaks. `join` creates a flat text, which the garbage collector copies at once.
    const text = lines.join("\n");
    log.packedEvents = [...log.packedEvents, { text, lastSeq: log.packedThroughSeq }];
    log.textBytes += measureText(text);
    lines = [];
    length = 0;
  };
  for (const { jsonText } of log.events) {
    if (length > 0 && length + jsonText.length > MAX_PACKED_TEXT_LENGTH) addText();
    lines.push(jsonText);
    length += jsonText.length;
    log.packedThroughSeq++;
  }
  log.events = [];
  if (lines.length > 0) addText();
}

/** Returns the size of a packed task in bytes. */
export function measurePackedTask(log: MemoryTaskLog): number {
  let size = HEAP_BYTES_PER_TASK + log.taskId.length + log.contextId.length + log.textBytes;
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
  log.packedTask = JSON.stringify(foldCurrentTask(log));
  log.textBytes = measureText(log.packedTask);
  log.packedThroughSeq = log.deletedCount = getLastSeq(log);
  log.packedEvents = [];
  log.events = [];
  log.task = undefined;
  log.foldedCount = 0;
}

/** Yields the events after the sequence number `after`, in order. */
export function* readEventsAfter(log: MemoryTaskLog, after: number): Generator<LogEvent, void, undefined> {
  for (const { text, lastSeq } of log.packedEvents) {
    if (lastSeq <= after) continue;
    const lines = text.split("\n");
    const precedingSeq = lastSeq - lines.length;
    for (let at = Math.max(0, after - precedingSeq); at < lines.length; at++)
      yield LogEvent.fromJsonText(precedingSeq + 1 + at, lines[at] as string);
  }
  for (let at = Math.max(0, after - log.packedThroughSeq); at < log.events.length; at++)
    yield log.events[at] as LogEvent;
}

/** Returns a copy of the current task. The log keeps the folded task only until its next packing. */
export function foldCurrentTask(log: MemoryTaskLog): Task {
  const isPacked = log.events.length === 0;
  const { packedTask } = log;
  const start = log.task ?? (packedTask === undefined ? undefined : (JSON.parse(packedTask) as Task));
  const foldedCount = log.task ? log.foldedCount : log.deletedCount;
  const task = foldLoggedEvents(start, readEventsAfter(log, foldedCount)) as Task;
  if (isPacked) return task;
  log.task = task;
  log.foldedCount = getLastSeq(log);
  return copyTask(task);
}
