import type { VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { toSingleLine } from "../../../cards/index.ts";
import {
  countMarks,
  hasKnownTime,
  type TimelineEntry,
  type TrafficModel,
  type TrafficTask,
} from "../../../observe/trace/index.ts";
import { formatDuration, pluralize } from "../cards/text-format.ts";
import { formatClock } from "../parts/time-format.ts";
import { useMediaQuery } from "../parts/use-media-query.ts";
import { VirtualList } from "../parts/virtual-list.tsx";
import { describeLine } from "./describe-line.ts";
import { chooseMarkTone, describeMark } from "./describe-mark.ts";
import {
  chooseShownGroups,
  filterTimeline,
  findLineGroup,
  formatEntryKey,
  foldTimeline,
  listRowMarks,
  listTimelineEntries,
  LINE_GROUP_TITLES,
  LINE_GROUPS,
  type LineGroup,
  type TimelineRow,
  toTimelineRow,
} from "./timeline-filter.ts";

const ROW_HEIGHT = 30;
const PHONE_ROW_HEIGHT = 50;

interface TimelineViewProps {
  readonly model: TrafficModel;
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
  model,
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
  const markCount = Object.values(countMarks(model, task)).reduce((sum, count) => sum + count, 0);
  const allEntries = listTimelineEntries(model, task);
  const entries = filterTimeline(task, allEntries, groups);
  const [isFolding, setIsFolding] = useState(true);
  const rows = isFolding
    ? foldTimeline(model, task, entries)
    : entries.map((entry) => toTimelineRow([entry])).toSorted((a, b) => a.startMs - b.startMs);
  const period = { startMs: rows[0]?.startMs ?? 0, endMs: entries.at(-1)?.timeMs ?? 0 };
  const isPhone = useMediaQuery("(max-width: 640px)");

  const selectedIndex = selected === undefined ? -1 : findRowIndex(rows, selected);
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
        <label>
          <input type="checkbox" checked={!isFolding} onChange={() => setIsFolding(!isFolding)} /> Every line
        </label>
        <span class="soft">
          {entries.length} of {pluralize(allEntries.length, "line")}
          {markCount > 0 && `, ${pluralize(markCount, "mark")}`}
        </span>
      </div>
      <VirtualList
        label="Timeline of the task"
        count={rows.length}
        rowHeight={isPhone ? PHONE_ROW_HEIGHT : ROW_HEIGHT}
        selectedIndex={selectedIndex < 0 ? undefined : selectedIndex}
        isFollowing={isFollowing}
        getRowKey={(index) => formatEntryKey(rows[index]?.entry)}
        getRowAttributes={(index) => ({ "data-kind": rows[index]?.entry.line.kind ?? "" })}
        onSelect={(index) => {
          const row = rows[index];
          if (row !== undefined) onSelect(row.entry);
        }}
        onOpen={onOpen}
        renderRow={(index) => {
          const row = rows[index];
          return row === undefined ? (
            <span />
          ) : (
            <TimelineRowView row={row} model={model} task={task} version={version} period={period} />
          );
        }}
      />
    </section>
  );
}

interface Period {
  readonly startMs: number;
  readonly endMs: number;
}

function TimelineRowView(props: {
  readonly row: TimelineRow;
  readonly model: TrafficModel;
  readonly task: TrafficTask;
  readonly version: number;
  /** The period of all shown rows. */
  readonly period: Period;
}): VNode {
  const { row, model, task, period } = props;
  const { entry, last, startMs } = row;
  const { line } = entry;
  const hasTime = hasKnownTime(line) && hasKnownTime(last.line);
  const description = describeRow(row, model);
  const marks = listRowMarks(task, row);
  const isChunk = line.kind === "event" || line.kind === "frame";
  const number = isChunk ? line.log_seq : undefined;
  return (
    <div
      class="timeline-row"
      data-group={findLineGroup(line)}
      data-marked={marks.length > 0 ? "" : undefined}
    >
      {hasKnownTime(line) ? (
        <time dateTime={new Date(startMs).toISOString()} title={formatRowTime(row)}>
          +{formatOffset(startMs - period.startMs)}
        </time>
      ) : (
        <time title="The console did not observe the event, and the store has no time for it.">–</time>
      )}
      <Bar row={hasTime ? row : undefined} period={period} />
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
      {isChunk && row.entries.length > 1 && (
        <span class="badge" data-tone="idle">
          {row.entries.length.toLocaleString("en")} chunks
          {hasTime && `, ${formatDuration(last.timeMs - startMs)}`}
        </span>
      )}
      <bdi class="entry-text" data-tone={description.tone}>
        {toSingleLine(description.text)}
      </bdi>
    </div>
  );
}

/** Describes a row. A request includes its duration, and what went wrong. */
function describeRow({ entry, last }: TimelineRow, model: TrafficModel): ReturnType<typeof describeLine> {
  const description = describeLine(entry.line, model);
  if (entry.line.kind !== "request" || last === entry) return description;
  const duration = `${description.text} · ${formatDuration(last.timeMs - entry.timeMs)}`;
  const { text, tone } = describeLine(last.line);
  return tone === undefined
    ? { ...description, text: duration }
    : { ...description, text: `${duration} · ${text}`, tone };
}

/** When a row happened, and how long it took, within the period of the timeline. */
function Bar({ row, period }: { readonly row: Period | undefined; readonly period: Period }): VNode {
  const lengthMs = Math.max(1, period.endMs - period.startMs);
  const toPercent = (ms: number): number => Math.min(100, Math.max(0, (100 * ms) / lengthMs));
  const start = row && toPercent(row.startMs - period.startMs);
  return (
    <span class="entry-bar" aria-hidden="true">
      {row && (
        <span
          data-is-point={row.startMs === row.endMs ? "" : undefined}
          style={{ left: `min(${start}%, 100% - 3px)`, width: `${toPercent(row.endMs - row.startMs)}%` }}
        />
      )}
    </span>
  );
}

/** An event has the time at which the console learned of its commit, which can be after the end of the turn. */
function formatRowTime({ entry, startMs }: TimelineRow): string {
  const time = formatClock(startMs);
  return entry.line.kind === "event" ? `Committed at ${time}` : time;
}

/** Formats the time since the first line, for example `1.204 s`. */
function formatOffset(milliseconds: number): string {
  if (milliseconds < 60_000) return `${(milliseconds / 1_000).toFixed(3)} s`;
  const minutes = Math.floor(milliseconds / 60_000);
  return `${minutes}:${((milliseconds - minutes * 60_000) / 1_000).toFixed(1).padStart(4, "0")} min`;
}

/** Finds the row of an entry from the end, because users mostly look at the latest lines. */
function findRowIndex(rows: readonly TimelineRow[], selected: TimelineEntry): number {
  const key = formatEntryKey(selected);
  return rows.findLastIndex(({ entries }) => entries.some((entry) => formatEntryKey(entry) === key));
}
