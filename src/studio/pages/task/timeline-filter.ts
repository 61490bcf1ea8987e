import { isObject } from "../../../protocol/index.ts";
import type { TimelineEntry, TrafficLine, TrafficTask } from "../../../observe/trace/index.ts";

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
 * Keeps the entries of the shown groups, and each entry that has a mark. An event that several observers recorded
 * appears once.
 */
export function filterTimeline(task: TrafficTask, groups: ReadonlySet<LineGroup>): readonly TimelineEntry[] {
  const { marks } = task;
  return task.entries.filter((entry) => {
    if (marks.has(entry)) return true;
    const { line } = entry;
    return (
      groups.has(findLineGroup(line)) &&
      (line.kind !== "event" || task.findLoggedEvent(line.log_seq) === entry)
    );
  });
}

/** A row of the timeline: an entry, or the chunks of an artifact that follow each other. */
export interface TimelineRow {
  /** The first entry. */
  readonly entry: TimelineEntry;
  readonly last: TimelineEntry;
  readonly count: number;
}

/** Smallest number of chunks that become one row. */
const MIN_FOLDED_CHUNKS = 3;

/** Makes one row of the chunks that follow each other in an artifact. Entries with marks have their own rows. */
export function foldChunks(task: TrafficTask, entries: readonly TimelineEntry[]): TimelineRow[] {
  const rows: TimelineRow[] = [];
  for (let at = 0; at < entries.length;) {
    const entry = entries[at] as TimelineEntry;
    const key = findChunkKey(task, entry);
    let end = at + 1;
    if (key !== undefined) while (findChunkKey(task, entries[end]) === key) end++;
    const next = end - at < MIN_FOLDED_CHUNKS ? at + 1 : end;
    rows.push({ entry, last: entries[next - 1] as TimelineEntry, count: next - at });
    at = next;
  }
  return rows;
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

/** Returns the period that a row describes, or a time without a length. */
export function findRowPeriod({ entry, last }: TimelineRow): {
  readonly startMs: number;
  readonly endMs: number;
} {
  const { line, timeMs } = entry;
  const isCall = line.kind === "model" || line.kind === "tool" || line.kind === "response";
  return { startMs: isCall ? timeMs - line.duration_ms : timeMs, endMs: last.timeMs };
}
