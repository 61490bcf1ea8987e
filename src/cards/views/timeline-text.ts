import type { WorkSpan } from "./delegations.ts";
import { type CardsOrRecording, listWorkSpans } from "./sample-exchanges.ts";
import { fitToColumns, measureColumns, truncateLine } from "./text-width.ts";

export interface TimelineTextOptions {
  /** Columns of the drawing. Default 100, at least 60. */
  readonly width?: number;
}

const MAX_NAME_COLUMNS = 16;

/**
 * Who worked when: a bar for each span of work, in the order in which they began, and behind it how long it took and
 * what it spent. Where there is no bar, a role waited. `~` marks times that nobody measured.
 */
export function renderTimelineText(
  shown: CardsOrRecording,
  { width = 100 }: TimelineTextOptions = {},
): string {
  const all = listWorkSpans(shown);
  // Several cards may come of one call: those that cost nothing more are not work.
  const some = all.filter(({ start, end, card }) => end - start >= 0.5 || card.metadata.tokens !== undefined);
  const spans = some.length > 0 ? some : all;
  if (spans.length === 0) return "No card says that anybody worked.";
  const names = spans.map(({ role }) => truncateLine(role, MAX_NAME_COLUMNS));
  const notes = spans.map(formatSpanNote);
  const widest = Math.max(...names.map(measureColumns));
  const room = Math.max(60, width) - widest - Math.max(...notes.map(measureColumns)) - 4;
  const start = Math.min(...spans.map((span) => span.start));
  const end = Math.max(...spans.map((span) => span.end));
  const scale = end > start ? room / (end - start) : 0;
  return spans
    .map((span, at) => {
      // What took no time at all is still seen.
      const from = Math.min(room - 1, Math.floor((span.start - start) * scale));
      const to = Math.min(room, Math.max(from + 1, Math.round((span.end - start) * scale)));
      // Work that came to nothing is drawn lighter.
      const bar = (span.card.message_type === "error" ? "░" : "█").repeat(to - from);
      return `${fitToColumns(names[at] ?? "", widest)} │${(" ".repeat(from) + bar).padEnd(room)}│ ${notes[at]}`;
    })
    .join("\n");
}

function formatSpanNote({ start, end, isMeasured: measured, card }: WorkSpan): string {
  const { tokens, error_type } = card.metadata;
  const notes = [
    `${measured ? "" : "~"}${Math.round(end - start)} ms`,
    ...(tokens === undefined ? [] : [`${tokens} tok`]),
    ...(card.message_type === "error" && typeof error_type === "string"
      ? [truncateLine(error_type, 20)]
      : []),
  ];
  return notes.join("  ");
}
