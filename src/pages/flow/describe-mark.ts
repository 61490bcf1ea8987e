import type { TimelineMark } from "../../trace/index.ts";
import { pluralize } from "./text-format.ts";

/** Describes a peculiarity of an entry in a few words, for example `gap: events 4 to 6 missing in the stream`. */
export function describeMark(mark: TimelineMark): string {
  switch (mark.kind) {
    case "gap":
      return mark.from === mark.to
        ? `gap: event ${mark.from} missing in the ${mark.where}`
        : `gap: events ${mark.from} to ${mark.to} missing in the ${mark.where}`;
    case "duplicate":
      return mark.logSeq === undefined ? "duplicate" : `duplicate of event ${mark.logSeq}`;
    case "cut":
      return withReason("stream cut", mark.error);
    case "stall":
      return withReason("reader stalled", mark.error);
    case "closed-by-reader":
      return withReason("closed by the reader", mark.error);
    case "resume":
      return mark.after === undefined ? "resumed" : `resumed after event ${mark.after}`;
    case "retry":
      return `retry: attempt ${mark.attempt}`;
    case "restart":
      return `restarted: attempt ${mark.attempt}`;
    case "fault":
      return withReason(`injected fault: ${mark.fault}`, mark.detail);
    case "lost-lines":
      return `the record lacks ${pluralize(mark.lines, "line")}`;
  }
}

function withReason(text: string, reason: string | undefined): string {
  return reason === undefined ? text : `${text} (${reason})`;
}
