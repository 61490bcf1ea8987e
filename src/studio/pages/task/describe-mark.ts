import { toSingleLine } from "../../../cards/index.ts";
import type { TimelineMark } from "../../../observe/trace/index.ts";

/** Describes a mark of the timeline in a few words, for example `gap: 3 to 5 not received`. */
export function describeMark(mark: TimelineMark): string {
  switch (mark.kind) {
    case "gap": {
      const range = mark.from === mark.to ? `event ${mark.from}` : `events ${mark.from} to ${mark.to}`;
      return `gap: ${range} ${mark.where === "log" ? "missing in the log" : "not received"}`;
    }
    case "duplicate":
      return `duplicate: ${mark.where === "log" ? "stored" : "received"} before`;
    case "cut":
      return "cut";
    case "stall":
      return "stall: the reader took no bytes";
    case "closed-by-reader":
      return "closed by the reader";
    case "resume":
      return mark.after === undefined ? "resume" : `resume after event ${mark.after}`;
    case "retry":
      return `retry, attempt ${mark.attempt}`;
    case "restart":
      return `restart, attempt ${mark.attempt}`;
    case "fault":
      return toSingleLine(`injected fault: ${mark.fault} ${mark.detail ?? ""}`).trimEnd();
    case "lost-lines":
      break;
  }
  return `${mark.lines} lines missing in the record`;
}

/** Tone of a mark. Losses are bad, and repairs are neutral. */
export function chooseMarkTone({ kind }: TimelineMark): "bad" | "warn" | "wait" {
  if (kind === "gap" || kind === "duplicate") return "bad";
  return kind === "resume" || kind === "retry" || kind === "restart" ? "wait" : "warn";
}
