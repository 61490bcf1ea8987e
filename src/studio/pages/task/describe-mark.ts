import { toSingleLine } from "../../../cards/index.ts";
import { describeMark as describeRecordedMark, type TimelineMark } from "../../../observe/trace/index.ts";

/** Describes a mark in a few words, with visible control characters of strangers. The line itself states its error. */
export function describeMark(mark: TimelineMark): string {
  const { kind } = mark;
  const hasError = kind === "cut" || kind === "stall" || kind === "closed-by-reader";
  return toSingleLine(describeRecordedMark(hasError ? { kind } : mark));
}

/** Tone of a mark. Losses are bad, and repairs are neutral. */
export function chooseMarkTone({ kind }: TimelineMark): "bad" | "warn" | "wait" {
  if (kind === "gap" || kind === "duplicate") return "bad";
  return kind === "resume" || kind === "retry" || kind === "restart" ? "wait" : "warn";
}
