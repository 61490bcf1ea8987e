import { type JsonObject, parseTraceparent } from "../../../protocol/index.ts";
import type { AgentLine, TrafficLine, WriterLine } from "../traffic-line-types.ts";
import { CONSOLE_CALLER, describeUnknownCaller, type IdentifiedCaller } from "./describe-unknown-caller.ts";
import { SequenceNumberSet } from "./sequence-number-set.ts";
import { TaskParentFinder } from "./task-parent-finder.ts";
import type { TimelineEntry } from "./timeline-types.ts";
import { type CallLine, isEntryOfKind, TrafficCall } from "./traffic-call.ts";
import { groupCallsByExchange, type TrafficExchange } from "./traffic-exchange.ts";
import { isTaskLine, TrafficTask } from "./traffic-task.ts";

/** A process that wrote lines. */
export interface TrafficWriterInfo {
  readonly id: string;
  /** The writer line, or `undefined` if the record does not contain it. */
  readonly line: WriterLine | undefined;
  /** Number of different lines in the record. */
  readonly lines: number;
  /** Number of lines that the record lacks between the first and the last line of the writer. */
  readonly lostLines: number;
  /** Time in milliseconds since 1970 at which the writer's monotonic clock was 0. */
  readonly clockOriginMs: number;
}

/** An agent that appears in the record. */
export interface TrafficAgent {
  readonly name: string;
  readonly url?: string;
  /** The agent card as JSON, if the record contains the card. */
  readonly card?: JsonObject;
}

interface WriterState {
  line: WriterLine | undefined;
  readonly seen: SequenceNumberSet;
  lines: number;
  clockOriginMs: number;
}

/**
 * Everything that a record shows: agents, calls, tasks, and exchanges between agents. The model depends only on the set
 * of lines, if the lines of each writer are added in the order of their sequence numbers. Lines of different writers
 * may be interleaved in any way. Adding a line takes constant time, so that the model also follows live traffic.
 */
export class TrafficModel {
  readonly #clockShiftsMs: ReadonlyMap<string, number>;
  readonly #consoleUser: string;
  readonly #writers = new Map<string, WriterState>();
  readonly #agents = new Map<string, TrafficAgent>();
  readonly #calls = new Map<string, TrafficCall>();
  readonly #tasks = new Map<string, TrafficTask>();
  readonly #taskKeysById = new Map<string, string>();
  /** Key of the task that owns a span, by the id of the span. */
  readonly #taskKeysBySpan = new Map<string, string>();
  readonly #parentSpans = new Map<string, string>();
  #exchanges: { readonly version: number; readonly index: ExchangeIndex } | undefined;
  #structureVersion = 0;
  #version = 0;

  /**
   * Creates an empty model. `clockShiftsMs` contains the milliseconds to add to the times of a writer, by writer id.
   * `computeClockShifts` computes the shifts. `consoleUser` names the sender of messages from a console.
   */
  constructor(clockShiftsMs: ReadonlyMap<string, number> = new Map(), consoleUser: string = CONSOLE_CALLER) {
    this.#clockShiftsMs = clockShiftsMs;
    this.#consoleUser = consoleUser;
  }

  /** Number of lines that changed the model. */
  get version(): number {
    return this.#version;
  }

  /** Adds a line. Lines that the model already contains are ignored. */
  add(line: TrafficLine): void {
    const writer = this.#getWriter(line);
    if (line.kind === "writer") {
      writer.line ??= line;
      this.#version += 1;
      this.#structureVersion += 1;
    }
    if (!writer.seen.add(line.seq)) return;
    this.#version += 1;
    writer.lines += 1;
    if (line.kind === "agent") this.#addAgent(line);
    if (!isTaskLine(line)) return;
    if (line.kind === "span" && line.parent_span_id !== undefined)
      this.#parentSpans.set(line.span_id, line.parent_span_id);
    const shiftMs = this.#clockShiftsMs.get(line.writer) ?? 0;
    const entry: TimelineEntry = { line, timeMs: writer.clockOriginMs + line.mono_ms + shiftMs };
    if (isCallEntry(entry)) this.#addCallLine(entry, entry.line.call);
    else this.#addTaskLine(entry, findTaskId(line), "agent" in line ? line.agent : undefined);
  }

  /** The writers of the record by id. */
  get writers(): ReadonlyMap<string, TrafficWriterInfo> {
    return new Map(
      [...this.#writers].map(([id, { line, lines, seen, clockOriginMs }]) => [
        id,
        {
          id,
          line,
          lines,
          lostLines: seen.listGaps().reduce((sum, { from, to }) => sum + to - from + 1, 0),
          clockOriginMs,
        },
      ]),
    );
  }

  /** The agents of the record by name: agents with a card, and agents that received requests. */
  get agents(): ReadonlyMap<string, TrafficAgent> {
    const agents = new Map(this.#agents);
    for (const { to } of this.exchanges) if (!agents.has(to)) agents.set(to, { name: to });
    for (const { agent } of this.#tasks.values())
      if (agent !== undefined && !agents.has(agent)) agents.set(agent, { name: agent });
    return agents;
  }

  /** All calls by key. */
  get calls(): ReadonlyMap<string, TrafficCall> {
    return this.#calls;
  }

  /** All tasks by key. `findTask` finds a task by its id. */
  get tasks(): ReadonlyMap<string, TrafficTask> {
    return this.#tasks;
  }

  /** Finds a task by its key or by its A2A id. */
  findTask(id: string): TrafficTask | undefined {
    return this.#tasks.get(id) ?? this.#tasks.get(this.#taskKeysById.get(id) ?? "");
  }

  /** The requests between the parties in the order of time, each with its observations. */
  get exchanges(): readonly TrafficExchange[] {
    return this.#getExchangeIndex().exchanges;
  }

  /** Returns the key of the task during which a task was started, or `undefined` for a root task. */
  findParentTaskKey(taskKey: string): string | undefined {
    return this.#getExchangeIndex().findParentTaskKey(taskKey);
  }

  /** Returns the exchange that a call observed, by the key of the call. */
  findExchange(callKey: string): TrafficExchange | undefined {
    return this.#getExchangeIndex().findExchange(callKey);
  }

  /** Returns the requests that were made during a task, in the order of time. */
  listExchangesDuring(taskKey: string): readonly TrafficExchange[] {
    return this.#getExchangeIndex().listExchangesDuring(taskKey);
  }

  #getExchangeIndex(): ExchangeIndex {
    if (this.#exchanges?.version !== this.#structureVersion)
      this.#exchanges = {
        version: this.#structureVersion,
        index: new ExchangeIndex(this.#buildExchanges()),
      };
    return this.#exchanges.index;
  }

  #buildExchanges(): TrafficExchange[] {
    const groups = groupCallsByExchange(this.#calls.values());
    const finder = new TaskParentFinder(
      this.#tasks,
      this.#taskKeysBySpan,
      this.#parentSpans,
      (id) => this.findTask(id)?.key,
    );
    const exchanges = groups.map((calls): TrafficExchange => {
      const [first] = calls as [TrafficCall, ...TrafficCall[]];
      const taskKey = calls.find((call) => call.taskKey !== undefined)?.taskKey;
      const parentTaskKey = finder.findParentTaskKey(calls, taskKey);
      const caller = this.#identifyCaller(calls, parentTaskKey);
      const to = calls.findLast((call) => call.request)?.request?.line.to ?? "";
      const reader = calls.find((call) => call.endMs !== undefined);
      return {
        key: first.key,
        from: caller.name,
        fromEvidence: caller.evidence,
        to,
        operation: first.request?.line.operation ?? "",
        calls,
        startMs: Math.min(...calls.map(({ startMs = Infinity }) => startMs)),
        endMs: reader?.endMs,
        hasFailed: first.hasFailed || first.wasInterrupted,
        taskKey,
        contextId: calls.find(({ contextId }) => contextId !== undefined)?.contextId,
        messageId: calls.find(({ messageId }) => messageId !== undefined)?.messageId,
        parentTaskKey,
        frames: Math.max(...calls.map(({ frameCount }) => frameCount)),
        bytes: Math.max(
          ...calls.map(({ frameBytes, response }) => frameBytes + (response?.line.body_bytes ?? 0)),
        ),
      };
    });
    return exchanges.toSorted((a, b) => a.startMs - b.startMs || (a.key < b.key ? -1 : 1));
  }

  #identifyCaller(calls: readonly TrafficCall[], parentTaskKey: string | undefined): IdentifiedCaller {
    const lines = calls.flatMap(({ request }) => (request ? [request.line] : []));
    const stated = lines.find(({ from }) => from !== undefined)?.from;
    if (stated !== undefined) return { name: stated, evidence: "stated" };
    const parentAgent = this.#tasks.get(parentTaskKey ?? "")?.agent;
    if (parentAgent !== undefined) return { name: parentAgent, evidence: "task" };
    const [first] = calls;
    const writerName = this.#writers.get(first?.writer ?? "")?.line?.name;
    const caller: IdentifiedCaller =
      first?.vantage === "client" && writerName !== undefined
        ? { name: writerName, evidence: "record" }
        : describeUnknownCaller(lines[0] ?? {});
    return caller.name === CONSOLE_CALLER ? { ...caller, name: this.#consoleUser } : caller;
  }

  #getWriter({ writer, at, mono_ms }: TrafficLine): WriterState {
    const known = this.#writers.get(writer);
    if (known) return known;
    const created = {
      line: undefined,
      seen: new SequenceNumberSet(),
      lines: 0,
      clockOriginMs: Date.parse(at) - mono_ms,
    };
    this.#writers.set(writer, created);
    return created;
  }

  #addAgent({ agent, url, card }: AgentLine): void {
    this.#agents.set(agent, { name: agent, url, card });
    this.#structureVersion += 1;
  }

  #addCallLine(entry: TimelineEntry<CallLine>, callId: string): void {
    const { line } = entry;
    const key = `${line.writer}/${callId}`;
    let call = this.#calls.get(key);
    if (!call) {
      call = new TrafficCall(key, line.writer, this.#getWriter(line));
      this.#calls.set(key, call);
    }
    if (line.kind !== "frame") this.#structureVersion += 1;
    call.addLine(entry);
    const agent = line.agent ?? call.request?.line.to;
    if (line.task_id !== undefined) {
      const task = this.#getTask(agent, line.task_id, call.vantage);
      if (call.taskKey === undefined) {
        call.taskKey = task.key;
        this.#structureVersion += 1;
        for (const waiting of call.linesWithoutTask) this.#addEntry(task, waiting);
        call.linesWithoutTask = [];
      }
      if (!task.calls.has(call)) task.addCall(call);
      this.#addEntry(task, entry);
    } else if (call.taskKey !== undefined) this.#addEntry(this.#tasks.get(call.taskKey), entry);
    else call.linesWithoutTask.push(entry);
  }

  #addTaskLine(entry: TimelineEntry, taskId: string | undefined, agent: string | undefined): void {
    if (taskId === undefined) return;
    const { vantage } = this.#writers.get(entry.line.writer)?.line ?? {};
    this.#addEntry(this.#getTask(agent, taskId, vantage), entry);
  }

  #addEntry(task: TrafficTask | undefined, entry: TimelineEntry): void {
    if (!task) return;
    task.addLine(entry);
    const { kind, traceparent } = entry.line;
    // These lines are written within the work on the task, so that their span belongs to the task.
    if (kind === "turn" || kind === "model" || kind === "tool") {
      const spanId = parseTraceparent(traceparent)?.spanId;
      if (spanId !== undefined) this.#taskKeysBySpan.set(spanId, task.key);
    }
    if (kind === "turn") this.#structureVersion += 1;
  }

  #getTask(agent: string | undefined, id: string, vantage?: WriterLine["vantage"]): TrafficTask {
    const key = computeTaskKey(agent, id, this.#taskKeysById);
    let task = this.#tasks.get(key);
    if (!task) {
      task = new TrafficTask(
        key,
        id,
        (writer, low, high) => this.#writers.get(writer)?.seen.hasGapBetween(low, high) ?? false,
      );
      this.#tasks.set(key, task);
      this.#taskKeysById.set(id, key);
    }
    if (agent !== undefined) task.addAgentName(agent, vantage);
    return task;
  }
}

/** Ids of at least this length are assumed to be unique, as UUIDs are. */
const MIN_UNIQUE_ID_LENGTH = 16;

/** Short ids, such as `1`, identify a task only together with its agent. */
function computeTaskKey(
  agent: string | undefined,
  id: string,
  keysById: ReadonlyMap<string, string>,
): string {
  if (id.length >= MIN_UNIQUE_ID_LENGTH) return id;
  return agent === undefined ? (keysById.get(id) ?? id) : `${agent}/${id}`;
}

function isCallEntry(entry: TimelineEntry): entry is TimelineEntry<CallLine & { readonly call: string }> {
  return (
    isEntryOfKind(entry, "request") ||
    isEntryOfKind(entry, "response") ||
    isEntryOfKind(entry, "frame") ||
    isEntryOfKind(entry, "stream-end") ||
    (isEntryOfKind(entry, "fault") && entry.line.call !== undefined)
  );
}

function findTaskId(line: TrafficLine): string | undefined {
  return "task_id" in line ? line.task_id : undefined;
}

/** The exchanges of a record, with the tasks that they connect. */
class ExchangeIndex {
  readonly exchanges: readonly TrafficExchange[];
  readonly #exchangesByParent: ReadonlyMap<string | undefined, readonly TrafficExchange[]>;
  readonly #parentKeys: ReadonlyMap<string | undefined, string | undefined>;
  readonly #exchangesByCall: ReadonlyMap<string, TrafficExchange>;

  /** `exchanges` are in the order of time. */
  constructor(exchanges: readonly TrafficExchange[]) {
    this.exchanges = exchanges;
    this.#exchangesByParent = Map.groupBy(exchanges, ({ parentTaskKey }) => parentTaskKey);
    // Of several exchanges of a task, the first with a parent counts, because later members of a map win.
    const withParent = exchanges.filter(({ parentTaskKey }) => parentTaskKey !== undefined);
    this.#parentKeys = new Map(
      withParent.toReversed().map(({ taskKey, parentTaskKey }) => [taskKey, parentTaskKey]),
    );
    this.#exchangesByCall = new Map(
      exchanges.flatMap((exchange) => exchange.calls.map(({ key }) => [key, exchange] as const)),
    );
  }

  findExchange(callKey: string): TrafficExchange | undefined {
    return this.#exchangesByCall.get(callKey);
  }

  findParentTaskKey(taskKey: string): string | undefined {
    return this.#parentKeys.get(taskKey);
  }

  listExchangesDuring(taskKey: string): readonly TrafficExchange[] {
    return this.#exchangesByParent.get(taskKey) ?? [];
  }
}
