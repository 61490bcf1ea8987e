import { isObject } from "../../../protocol/index.ts";
import {
  findEarlyEnd,
  type TimelineEntry,
  type TimelineMark,
  type TrafficCall,
  type TrafficExchange,
  type TrafficLine,
  type TrafficModel,
  type TrafficTask,
} from "../../../observe/trace/index.ts";

/** Groups of lines that the timeline shows or hides. */
export const LINE_GROUPS = ["events", "requests", "frames", "work", "other"] as const;
export type LineGroup = (typeof LINE_GROUPS)[number];

export const LINE_GROUP_TITLES: Readonly<Record<LineGroup, string>> = {
  events: "Log events",
  requests: "Requests",
  frames: "Stream frames",
  work: "Turns, models, tools",
  other: "Pushes, faults, spans",
};

const GROUPS_BY_KIND: Readonly<Record<TrafficLine["kind"], LineGroup>> = {
  event: "events",
  request: "requests",
  response: "requests",
  "stream-end": "requests",
  frame: "frames",
  turn: "work",
  model: "work",
  tool: "work",
  span: "other",
  push: "other",
  fault: "other",
  loss: "other",
  writer: "other",
  agent: "other",
  run: "other",
  card: "other",
  score: "other",
  skip: "other",
  end: "other",
};

export function findLineGroup({ kind }: TrafficLine): LineGroup {
  return Object.hasOwn(GROUPS_BY_KIND, kind) ? GROUPS_BY_KIND[kind] : "other";
}

/**
 * Returns the groups that are shown at first: all groups, without the frames if the record contains the log, whose
 * events the frames repeat.
 */
export function chooseShownGroups(hasLog: boolean): ReadonlySet<LineGroup> {
  return new Set(LINE_GROUPS.filter((group) => group !== "frames" || !hasLog));
}

/**
 * Lists the entries of a task, and the requests of its agent to other agents, in the order of time. An event that several
 * observers recorded appears once.
 */
export function listTimelineEntries(model: TrafficModel, task: TrafficTask): readonly TimelineEntry[] {
  const { marks } = task;
  const entries = task.entries.filter(
    (entry) =>
      entry.line.kind !== "event" || marks.has(entry) || task.findLoggedEvent(entry.line.log_seq) === entry,
  );
  const calls = model.listExchangesDuring(task.key).flatMap((exchange) => exchange.calls);
  if (calls.length === 0) return entries;
  return [...entries, ...calls.flatMap(listCallEntries)].toSorted((a, b) => a.timeMs - b.timeMs);
}

function listCallEntries({ request, response, end }: TrafficCall): TimelineEntry[] {
  return [request, response, end].filter((entry) => entry !== undefined);
}

/** Keeps the entries of the shown groups, and each entry that has a mark. */
export function filterTimeline(
  { marks }: TrafficTask,
  entries: readonly TimelineEntry[],
  groups: ReadonlySet<LineGroup>,
): readonly TimelineEntry[] {
  return entries.filter((entry) => marks.has(entry) || groups.has(findLineGroup(entry.line)));
}

/** A row of the timeline: an entry, the chunks of an artifact that follow each other, or a request with its response. */
export interface TimelineRow {
  /** The first entry. */
  readonly entry: TimelineEntry;
  readonly last: TimelineEntry;
  /** All entries of the row, in the order of time. */
  readonly entries: readonly TimelineEntry[];
  /** The period that the row describes. A point in time has no length. */
  readonly startMs: number;
  readonly endMs: number;
}

/** Smallest number of chunks that become one row. */
const MIN_FOLDED_CHUNKS = 3;

/**
 * Makes one row of the chunks that follow each other in an artifact, and one row of a request, its response, and the end
 * of its stream, which a client and a server can both record. The early end of a stream also has its own row, as the
 * observer nearest to the caller saw it. The rows are in the order of their starts.
 */
export function foldTimeline(
  model: TrafficModel,
  task: TrafficTask,
  entries: readonly TimelineEntry[],
): TimelineRow[] {
  const groups = new Map<unknown, TimelineEntry[]>();
  for (let at = 0; at < entries.length;) {
    const entry = entries[at] as TimelineEntry;
    const chunkKey = findChunkKey(task, entry);
    let end = at + 1;
    if (chunkKey !== undefined) while (findChunkKey(task, entries[end]) === chunkKey) end++;
    if (end - at < MIN_FOLDED_CHUNKS) end = at + 1;
    const exchange = findExchange(model, entry);
    const group = groups.get(exchange);
    const isEarlyEnd = entry.line.kind === "stream-end" && task.marks.has(entry);
    const isOtherObservation = isEarlyEnd && exchange && findEarlyEnd(exchange)?.line !== entry.line;
    if (!isOtherObservation) {
      if (exchange && group) group.push(entry);
      else if (!isEarlyEnd) groups.set(exchange ?? entry, entries.slice(at, end));
      if (isEarlyEnd) groups.set(entry, [entry]);
    }
    at = end;
  }
  return [...groups.values()].map(toTimelineRow).toSorted((a, b) => a.startMs - b.startMs);
}

export function toTimelineRow(entries: readonly TimelineEntry[]): TimelineRow {
  const [entry, last] = [entries[0] as TimelineEntry, entries.at(-1) as TimelineEntry];
  const { line, timeMs } = entry;
  // A response has its own row. The row of its request shows the duration.
  const isCall = line.kind === "model" || line.kind === "tool";
  return {
    entry,
    last,
    entries,
    startMs: isCall ? timeMs - line.duration_ms : timeMs,
    endMs: last.timeMs,
  };
}

/** Finds the exchange of which an entry is a part, except for the frames of a stream. */
function findExchange(model: TrafficModel, { line }: TimelineEntry): TrafficExchange | undefined {
  const isPart = line.kind === "request" || line.kind === "response" || line.kind === "stream-end";
  return isPart ? model.findExchange(`${line.writer}/${line.call}`) : undefined;
}

/** Lists the marks of a row. A client and a server can mark the same request. */
export function listRowMarks(task: TrafficTask, { entry, entries }: TimelineRow): TimelineMark[] {
  const marks = entries
    .filter(({ line }) => line.kind === entry.line.kind)
    .flatMap((one) => task.getMarks(one));
  return [...new Map(marks.map((mark) => [JSON.stringify(mark), mark])).values()];
}

/** Chunks with the same key can be one row. */
function findChunkKey(task: TrafficTask, entry: TimelineEntry | undefined): string | undefined {
  const line = entry?.line;
  if (entry === undefined || (line?.kind !== "event" && line?.kind !== "frame")) return undefined;
  const update = line.event?.["artifactUpdate"];
  const artifact = isObject(update) ? update["artifact"] : undefined;
  if (!isObject(artifact) || task.marks.has(entry)) return undefined;
  return `${line.kind} ${JSON.stringify(artifact["artifactId"])}`;
}

/** Returns a key of an entry, which the URL also contains. */
export function formatEntryKey(entry: Pick<TimelineEntry, "line"> | undefined): string {
  return entry === undefined ? "" : `${entry.line.writer}:${entry.line.seq}`;
}
