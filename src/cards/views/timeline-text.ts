import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { WorkSpan } from "./delegated-task-forest.ts";
import { type CardsOrRecording, listWorkSpans } from "./sample-delegation-forests.ts";
import { fitToColumns, measureColumns, truncateLine } from "./text-width.ts";

/** Options of `renderTimelineText`. */
export interface TimelineTextOptions {
  /** Width of the timeline in terminal columns. Default: 100, minimum: 60. */
  readonly width?: number;
}

const assertKnownOptions = defineOptionNames<TimelineTextOptions>()("renderTimelineText", "width");

const MAX_NAME_COLUMNS = 16;

/**
 * Renders a bar, the duration, and the tokens of each work span. The bars are sorted by start time. A role
 * waits during the periods without a bar. The sign `~` marks durations that were not measured.
 */
export function renderTimelineText(shown: CardsOrRecording, options: TimelineTextOptions = {}): string {
  assertKnownOptions(options);
  const { width = 100 } = options;
  const all = listWorkSpans(shown);
  // One call may produce several cards. Cards without duration and tokens are not work.
  const significant = all.filter(
    ({ start, end, card }) => end - start >= 0.5 || card.metadata.tokens !== undefined,
  );
  const spans = significant.length > 0 ? significant : all;
  if (spans.length === 0) return "The cards contain no work.";
  const names = spans.map(({ role }) => truncateLine(role, MAX_NAME_COLUMNS));
  const notes = spans.map(formatSpanNote);
  const widest = Math.max(...names.map(measureColumns));
  const room = Math.max(60, width) - widest - Math.max(...notes.map(measureColumns)) - 4;
  const start = Math.min(...spans.map((span) => span.start));
  const end = Math.max(...spans.map((span) => span.end));
  const scale = end > start ? room / (end - start) : 0;
  return spans
    .map((span, at) => {
      // A span without duration still has a visible bar.
      const from = Math.min(room - 1, Math.floor((span.start - start) * scale));
      const to = Math.min(room, Math.max(from + 1, Math.round((span.end - start) * scale)));
      // Work that ended with an error has a lighter bar.
      const bar = (span.card.message_type === "error" ? "░" : "█").repeat(to - from);
      return `${fitToColumns(names[at] ?? "", widest)} │${(" ".repeat(from) + bar).padEnd(room)}│ ${notes[at]}`;
    })
    .join("\n");
}

function formatSpanNote({ start, end, isMeasured, card }: WorkSpan): string {
  const { tokens, error_type } = card.metadata;
  const notes = [
    `${isMeasured ? "" : "~"}${Math.round(end - start)} ms`,
    ...(tokens === undefined ? [] : [`${tokens} tok`]),
    ...(card.message_type === "error" && typeof error_type === "string"
      ? [truncateLine(error_type, 20)]
      : []),
  ];
  return notes.join("  ");
}
