import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { toSingleLine } from "../../../cards/index.ts";
import { hasKnownTime, type TimelineEntry, type TrafficTask } from "../../../observe/trace/index.ts";
import { formatClock } from "../parts/time-format.ts";
import { useMediaQuery } from "../parts/use-media-query.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import { describeLine } from "./describe-line.ts";
import { chooseMarkTone, describeMark } from "./describe-mark.ts";
import {
  chooseShownGroups,
  filterTimeline,
  findLineGroup,
  LINE_GROUP_TITLES,
  LINE_GROUPS,
  type LineGroup,
} from "./timeline-filter.ts";

const ROW_HEIGHT = 30;
const PHONE_ROW_HEIGHT = 50;

interface TimelineViewProps {
  readonly task: TrafficTask;
  /** Changes with the lines of the task, which grow in place. */
  readonly version: number;
  readonly selected: TimelineEntry | undefined;
  readonly onSelect: (entry: TimelineEntry) => void;
  /** Called when the user opens an entry, to move the focus to its details. */
  readonly onOpen: () => void;
  readonly isFollowing: boolean;
}

/** The lines of a task in the order of time, with marks for gaps, cuts, retries, and resumes. */
export function TimelineView({
  task,
  version,
  selected,
  onSelect,
  onOpen,
  isFollowing,
}: TimelineViewProps): VNode {
  const hasLog = task.loggedNumbers.highest > 0;
  const [groups, setGroups] = useState<ReadonlySet<LineGroup>>(() => chooseShownGroups(hasLog));
  useEffect(() => setGroups(chooseShownGroups(hasLog)), [hasLog]);
  const marks = task.marks;
  const entries = filterTimeline(task, groups);
  const startMs = entries[0]?.timeMs ?? 0;
  const isPhone = useMediaQuery("(max-width: 640px)");

  const selectedIndex = selected === undefined ? -1 : findEntryIndex(entries, selected);
  const toggle = (group: LineGroup): void => {
    const next = new Set(groups);
    if (!next.delete(group)) next.add(group);
    setGroups(next);
  };
  return (
    <section class="timeline" aria-label="Timeline" data-testid="timeline" data-entries={entries.length}>
      <div class="timeline-filters" role="group" aria-label="Lines to show">
        {LINE_GROUPS.map((group) => (
          <label key={group}>
            <input type="checkbox" checked={groups.has(group)} onChange={() => toggle(group)} />{" "}
            {LINE_GROUP_TITLES[group]}
          </label>
        ))}
        <span class="soft">
          {entries.length} of {task.entryCount} lines
          {marks.size > 0 && `, ${marks.size} with marks`}
        </span>
      </div>
      <VirtualList
        label="Timeline of the task"
        count={entries.length}
        rowHeight={isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT}
        selectedIndex={selectedIndex < 0 ? undefined : selectedIndex}
        isFollowing={isFollowing}
        getRowKey={(index) => formatEntryKey(entries[index])}
        getRowAttributes={(index) => ({ "data-kind": entries[index]?.line.kind ?? "" })}
        onSelect={(index) => {
          const entry = entries[index];
          if (entry !== undefined) onSelect(entry);
        }}
        onOpen={onOpen}
        renderRow={(index) => {
          const entry = entries[index];
          return entry === undefined ? (
            <span />
          ) : (
            <TimelineRow entry={entry} task={task} version={version} startMs={startMs} />
          );
        }}
      />
    </section>
  );
}

function TimelineRow(props: {
  readonly entry: TimelineEntry;
  readonly task: TrafficTask;
  readonly version: number;
  readonly startMs: number;
}): VNode {
  const { entry, task, startMs } = props;
  const { line, timeMs } = entry;
  const description = describeLine(line);
  const marks = task.getMarks(entry);
  const number = line.kind === "event" || line.kind === "frame" ? line.log_seq : undefined;
  return (
    <div
      class="timeline-row"
      data-group={findLineGroup(line)}
      data-marked={marks.length > 0 ? "" : undefined}
    >
      {hasKnownTime(line) ? (
        <time title={formatClock(timeMs)}>+{formatOffset(timeMs - startMs)}</time>
      ) : (
        <time title="The console did not observe the event, and the store has no time for it.">–</time>
      )}
      <span class="entry-number">{number === undefined ? "" : `#${number}`}</span>
      <span class="entry-kind">{description.kind}</span>
      {marks.map((mark) => (
        <span
          key={describeMark(mark)}
          class="badge mark"
          data-mark={mark.kind}
          data-tone={chooseMarkTone(mark)}
        >
          {describeMark(mark)}
        </span>
      ))}
      <bdi class="entry-text" data-tone={description.tone}>
        {toSingleLine(description.text)}
      </bdi>
    </div>
  );
}

/** Formats the time since the first line, for example `1.204 s`. */
function formatOffset(milliseconds: number): string {
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(3)} s`;
  const minutes = Math.floor(milliseconds / 60_000);
  return `${minutes}:${((milliseconds - minutes * 60_000) / 1_000).toFixed(1).padStart(4, "0")} min`;
}

/** Returns a key of an entry, which the URL also contains. */
export function formatEntryKey(entry: TimelineEntry | undefined): string {
  return entry === undefined ? "" : `${entry.line.writer}:${entry.line.seq}`;
}

/** Finds an entry by its key from the end, because users mostly look at the latest lines. */
function findEntryIndex(entries: readonly TimelineEntry[], { line }: TimelineEntry): number {
  return entries.findLastIndex((entry) => entry.line.seq === line.seq && entry.line.writer === line.writer);
}
