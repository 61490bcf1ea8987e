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
