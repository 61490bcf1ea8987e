import { isObject, type JsonObject, type JsonValue, parseTraceparent } from "../../../protocol/index.ts";
import type {
  EventLine,
  FrameLine,
  ModelLine,
  ToolLine,
  TrafficLine,
  TurnLine,
  WriterLine,
} from "../traffic-line-types.ts";
import { addModelLineUsage, NO_USAGE, type TokenUsage } from "../prices/token-usage.ts";
import { SequenceNumberSet } from "./sequence-number-set.ts";
import {
  compareTimelineEntries,
  type MarkedTimelineEntry,
  type ReaderPosition,
  type TimelineEntry,
  type TimelineMark,
} from "./timeline-types.ts";
import { type TrafficCall, isEntryOfKind } from "./traffic-call.ts";
import { groupCallsByExchange } from "./traffic-exchange.ts";
import { computeTaskMarks, type HasLostLinesBetween } from "./task-marks.ts";

const AGENT_NAME_RANKS: readonly (WriterLine["vantage"] | undefined)[] = [
  "server",
  "client",
  "tap",
  undefined,
];
const NO_MARKS: readonly TimelineMark[] = [];

/** A change of the task's state. */
export interface TaskStateChange {
  readonly state: string;
  readonly timeMs: number;
  readonly logSeq?: number;
}

/**
 * A task, and everything that the record contains about it. The task grows with each line at constant cost. The getters
 * sort and mark the entries only after a change.
 */
export class TrafficTask {
  readonly key: string;
  readonly id: string;
  contextId: string | undefined;
  readonly calls: Set<TrafficCall> = new Set();
  readonly modelCalls: TimelineEntry<ModelLine>[] = [];
  readonly toolCalls: TimelineEntry<ToolLine>[] = [];
  readonly turns: TimelineEntry<TurnLine>[] = [];
  readonly referenceTaskIds: Set<string> = new Set();
  /** Task that called this agent, as a line states it. */
  statedParent: { readonly agent?: string; readonly task_id: string } | undefined;
  /** Trace ids of the lines of the task. */
  readonly traceIds: Set<string> = new Set();
  /** Incremented with each line. */
  version = 0;
  /** Sequence numbers of the events that servers stored. */
  readonly loggedNumbers: SequenceNumberSet = new SequenceNumberSet();
  /** Numbers of stored events that servers do not send to readers: the messages of users. */
  readonly unsentNumbers: Set<number> = new Set();
  readonly duplicateEvents: TimelineEntry<EventLine>[] = [];
  readonly #loggedEvents = new Map<number, TimelineEntry<EventLine>>();
  #agent: { readonly name: string; readonly rank: number } | undefined;
  #entries: TimelineEntry[] = [];
  #isSorted = true;
  #logState: TaskStateChange | undefined;
  #observedState: TaskStateChange | undefined;
  #stateChanges: TaskStateChange[] = [];
  #usage: TokenUsage = NO_USAGE;
  #marks:
    | { readonly version: number; readonly byEntry: ReadonlyMap<TimelineEntry, TimelineMark[]> }
    | undefined;
  readonly #hasLostLinesBetween: HasLostLinesBetween;

  constructor(key: string, id: string, hasLostLinesBetween: HasLostLinesBetween) {
    this.key = key;
    this.id = id;
    this.#hasLostLinesBetween = hasLostLinesBetween;
  }

  /** Adds a line of the task. */
  addLine(entry: TimelineEntry): void {
    this.version += 1;
    const last = this.#entries.at(-1);
    if (last && compareTimelineEntries(last, entry) > 0) this.#isSorted = false;
    this.#entries.push(entry);
    const { line } = entry;
    if ("context_id" in line) this.contextId ??= line.context_id;
    if ("event" in line) this.contextId ??= findEventContextId(line.event);
    const traceId = parseTraceparent(line.traceparent)?.traceId;
    if (traceId !== undefined) this.traceIds.add(traceId);
    if (isEntryOfKind(entry, "event")) this.#addEvent(entry);
    else if (isEntryOfKind(entry, "turn")) this.turns.push(entry);
    else if (isEntryOfKind(entry, "model")) this.#addModelCall(entry);
    else if (isEntryOfKind(entry, "tool")) this.toolCalls.push(entry);
    else if (isEntryOfKind(entry, "frame"))
      this.#observeState(findEventState(entry.line.event), entry.timeMs);
    else if (isEntryOfKind(entry, "response")) this.#observeState(entry.line.state, entry.timeMs);
    if (isEntryOfKind(entry, "request") || isEntryOfKind(entry, "turn"))
      this.statedParent ??= entry.line.parent;
    if (isEntryOfKind(entry, "request"))
      for (const id of entry.line.reference_task_ids ?? []) this.referenceTaskIds.add(id);
  }

  /** Name of the agent that works on the task, if a line states it. */
  get agent(): string | undefined {
    return this.#agent?.name;
  }

  /** Adds a name of the agent. Servers know their names better than clients, and clients better than taps. */
  addAgentName(name: string, vantage: WriterLine["vantage"] | undefined): void {
    const rank = AGENT_NAME_RANKS.indexOf(vantage);
    const known = this.#agent;
    if (known && (known.rank < rank || (known.rank === rank && known.name <= name))) return;
    this.#agent = { name, rank };
  }

  addCall(call: TrafficCall): void {
    this.calls.add(call);
    this.version += 1;
  }

  /** The lines of the task in the order of time. */
  get entries(): readonly TimelineEntry[] {
    if (!this.#isSorted) {
      this.#entries.sort(compareTimelineEntries);
      this.#isSorted = true;
    }
    return this.#entries;
  }

  /** The lines of the task in the order of time, each with its marks. */
  get timeline(): MarkedTimelineEntry[] {
    return this.entries.map((entry) => ({ ...entry, marks: this.getMarks(entry) }));
  }

  /** Returns the marks of one entry of `entries`. */
  getMarks(entry: TimelineEntry): readonly TimelineMark[] {
    return this.marks.get(entry) ?? NO_MARKS;
  }

  /** The entries that have marks. The cost depends on the calls and on irregular entries, but not on all entries. */
  get marks(): ReadonlyMap<TimelineEntry, TimelineMark[]> {
    if (this.#marks?.version !== this.version)
      this.#marks = { version: this.version, byEntry: computeTaskMarks(this, this.#hasLostLinesBetween) };
    return this.#marks.byEntry;
  }

  /** Latest state. The log of a server takes precedence over the observations of clients. */
  get state(): string | undefined {
    return (this.#logState ?? this.#observedState)?.state;
  }

  /** Changes of the state in the order of time. Repeated reports of a state are one change. */
  get stateChanges(): readonly TaskStateChange[] {
    const reported = this.#logState
      ? this.#stateChanges.filter(({ logSeq }) => logSeq !== undefined)
      : this.#stateChanges;
    const changes = reported.toSorted((a, b) => a.timeMs - b.timeMs || (a.logSeq ?? 0) - (b.logSeq ?? 0));
    return changes.filter(({ state }, at) => changes[at - 1]?.state !== state);
  }

  get startMs(): number {
    return this.entries[0]?.timeMs ?? 0;
  }

  /** Time of the latest line. */
  get lastMs(): number {
    return this.entries.at(-1)?.timeMs ?? 0;
  }

  get usage(): TokenUsage {
    return this.#usage;
  }

  /** Positions of the task's readers, in the order in which their streams began. A client and a server observe one reader. */
  get readers(): ReaderPosition[] {
    const streams = [...this.calls].filter((call) => call.isStream);
    const repeated = new Set(groupCallsByExchange(streams).flatMap(([, ...others]) => others));
    return streams
      .filter((call) => !repeated.has(call))
      .toSorted((a, b) => (a.startMs ?? 0) - (b.startMs ?? 0) || (a.key < b.key ? -1 : 1))
      .map((call) => call.getReaderPosition());
  }

  findLoggedEvent(logSeq: number): TimelineEntry<EventLine> | undefined {
    return this.#loggedEvents.get(logSeq);
  }

  /** Returns the event of a frame. Servers of Colloquy record the event only once, in the log. */
  findFrameEvent({ event, log_seq }: FrameLine): JsonObject | undefined {
    return event ?? this.#loggedEvents.get(log_seq ?? 0)?.line.event;
  }

  #addEvent(entry: TimelineEntry<EventLine>): void {
    const { log_seq, event } = entry.line;
    const known = this.#loggedEvents.get(log_seq);
    if (known) {
      // A second observer, such as a console that reads the log, repeats the events of the server.
      if (known.line.writer !== entry.line.writer && isSameEvent(known.line, entry.line)) return;
      const isEarlier = compareTimelineEntries(entry, known) < 0;
      this.duplicateEvents.push(isEarlier ? known : entry);
      if (isEarlier) this.#loggedEvents.set(log_seq, entry);
      return;
    }
    this.loggedNumbers.add(log_seq);
    this.#loggedEvents.set(log_seq, entry);
    if (event && "message" in event) this.unsentNumbers.add(log_seq);
    const state = findEventState(event);
    if (state === undefined) return;
    const change = { state, timeMs: findStatusTime(entry), logSeq: log_seq };
    this.#addStateChange(change);
    if (log_seq > (this.#logState?.logSeq ?? 0)) this.#logState = change;
  }

  #observeState(state: string | undefined, timeMs: number): void {
    if (state === undefined) return;
    this.#addStateChange({ state, timeMs });
    if (timeMs >= (this.#observedState?.timeMs ?? 0)) this.#observedState = { state, timeMs };
  }

  #addStateChange(change: TaskStateChange): void {
    this.#stateChanges.push(change);
  }

  #addModelCall(entry: TimelineEntry<ModelLine>): void {
    this.modelCalls.push(entry);
    this.#usage = addModelLineUsage(this.#usage, entry.line);
  }
}

function findEventStatus(event: JsonObject | undefined): JsonValue | undefined {
  const subject = event?.["task"] ?? event?.["statusUpdate"];
  return isObject(subject) ? subject["status"] : undefined;
}

/** Returns the state that an event in A2A 1.0 JSON reports. The JSON comes from a file, and may have any shape. */
export function findEventState(event: JsonObject | undefined): string | undefined {
  const status = findEventStatus(event);
  const state = isObject(status) ? status["state"] : undefined;
  return typeof state === "string" ? state : undefined;
}

/** The lines of a log have a wall clock in milliseconds, and other lines of a server have the clock of their writer. */
export const CLOCK_TOLERANCE_MS = 10;

/** Longest delay between a status and its commit that is plausible, in milliseconds. */
const MAX_COMMIT_DELAY_MS = 60_000;

/** Returns the time of the status, and not of the later commit. Lists of tasks contain the times of the status. */
function findStatusTime({ line: { at, event }, timeMs }: TimelineEntry<EventLine>): number {
  const status = findEventStatus(event);
  const timestamp = isObject(status) ? status["timestamp"] : undefined;
  if (typeof timestamp !== "string") return timeMs;
  const [statusMs, commitMs] = [Date.parse(timestamp), Date.parse(at)];
  const isPlausible = statusMs <= commitMs && commitMs - statusMs < MAX_COMMIT_DELAY_MS;
  const clockErrorMs = timeMs - commitMs;
  return isPlausible ? statusMs + (Math.abs(clockErrorMs) < CLOCK_TOLERANCE_MS ? 0 : clockErrorMs) : timeMs;
}

/** The first request of a client has no context, which the server chooses. */
function findEventContextId(event: JsonObject | undefined): string | undefined {
  const subject = event?.["task"] ?? event?.["statusUpdate"] ?? event?.["artifactUpdate"];
  const contextId = isObject(subject) ? subject["contextId"] : undefined;
  return typeof contextId === "string" && contextId !== "" ? contextId : undefined;
}

function isSameEvent(a: EventLine, b: EventLine): boolean {
  if (a.event === undefined || b.event === undefined) return true;
  return JSON.stringify(a.event) === JSON.stringify(b.event);
}

/** Returns whether a line belongs to one task. */
export function isTaskLine(line: TrafficLine): boolean {
  return line.kind !== "writer" && line.kind !== "agent" && line.kind !== "loss";
}
