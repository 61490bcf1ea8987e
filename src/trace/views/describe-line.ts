import { isObject, type JsonValue } from "../../protocol/index.ts";
import type { TimelineMark } from "../model/timeline-types.ts";
import { formatState } from "../model/traffic-sequence.ts";
import { findEventState, type TrafficTask } from "../model/traffic-task.ts";
import type { TrafficLine } from "../traffic-line-types.ts";

/** Maximum length of a text in a description, in characters. */
const MAX_TEXT_LENGTH = 100;

/** Describes a line of a task in a few words, for example `event 3: completed`. */
export function describeTrafficLine(line: TrafficLine, task: TrafficTask): string {
  switch (line.kind) {
    case "request":
      return `${line.operation} to ${line.to}${line.after === undefined ? "" : ` after event ${line.after}`}`;
    case "response":
      return [
        line.error ?? line.status ?? "no response",
        line.state && formatState(line.state),
        formatDuration(line.duration_ms),
      ]
        .filter(Boolean)
        .join(", ");
    case "frame":
      return `frame ${line.index}${formatNumber(line.log_seq)}: ${describeEvent(task.findFrameEvent(line) ?? line.text)}`;
    case "stream-end":
      return `${line.reason} after ${line.frames} frames${line.error === undefined ? "" : `: ${line.error}`}`;
    case "event":
      return `event ${line.log_seq}: ${describeEvent(line.event)}`;
    case "turn":
      return `${line.phase}${line.error === undefined ? "" : `: ${line.error}`}`;
    case "model":
      return `${line.model}: ${line.error ?? line.finish_reason ?? "done"}, ${line.input_tokens ?? "?"} + ${line.output_tokens ?? "?"} tokens, ${formatDuration(line.duration_ms)}`;
    case "tool":
      return `${line.server === undefined ? "" : `${line.server}/`}${line.tool}: ${line.error ?? "done"}, ${formatDuration(line.duration_ms)}`;
    case "span":
      return `${line.service === undefined ? "" : `${line.service}: `}${line.name}, ${formatDuration(line.end_ms - line.start_ms)}`;
    case "push":
      return `${line.outcome}${formatNumber(line.log_seq)}${line.reason === undefined ? "" : `: ${line.reason}`}`;
    case "fault":
      return `${line.fault}${line.detail === undefined ? "" : ` ${line.detail}`}`;
    case "loss":
      return `${line.lines} lines lost: ${line.reason}`;
    case "agent":
      return `${line.agent} at ${line.url}`;
    case "writer":
      return `${line.vantage} ${line.name}`;
  }
}

/** Describes a mark in a few words, for example `gap: events 3 to 4 are missing in the stream`. */
export function describeMark(mark: TimelineMark): string {
  switch (mark.kind) {
    case "gap":
      return `gap: ${formatRange(mark)} missing in the ${mark.where}`;
    case "duplicate":
      return `duplicate in the ${mark.where}${mark.logSeq === undefined ? "" : `: event ${mark.logSeq}`}`;
    case "resume":
      return `resume${mark.after === undefined ? "" : ` after event ${mark.after}`}`;
    case "retry":
    case "restart":
      return `${mark.kind}: attempt ${mark.attempt}`;
    case "fault":
      return `fault: ${mark.fault}${mark.detail === undefined ? "" : ` ${mark.detail}`}`;
    case "lost-lines":
      return `the record lacks ${mark.lines} ${mark.lines === 1 ? "line" : "lines"}`;
    case "cut":
    case "stall":
    case "closed-by-reader":
      return `${mark.kind.replaceAll("-", " ")}${mark.error === undefined ? "" : `: ${mark.error}`}`;
  }
}

/** Formats a duration, for example `12 ms` or `3.4 s`. */
export function formatDuration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function describeEvent(event: JsonValue | undefined): string {
  if (typeof event === "string") return quote(event);
  if (!isObject(event)) return "an event without a body";
  const state = findEventState(event);
  const update = event["artifactUpdate"];
  const artifact = isObject(update) ? update["artifact"] : undefined;
  const status = isObject(event["statusUpdate"]) ? event["statusUpdate"]["status"] : undefined;
  const message = event["message"] ?? (isObject(status) ? status["message"] : undefined);
  const text = quote(
    collectText(isObject(artifact) ? artifact["parts"] : isObject(message) ? message["parts"] : undefined),
  );
  if (isObject(artifact)) return `artifact ${String(artifact["artifactId"] ?? "")} ${text}`.trim();
  if (state !== undefined) return `${"task" in event ? "task " : ""}${formatState(state)} ${text}`.trim();
  return `message ${text}`.trim();
}

function collectText(parts: JsonValue | undefined): string {
  if (!Array.isArray(parts)) return "";
  return parts
    .map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : ""))
    .join("");
}

function quote(text: string): string {
  if (text === "") return "";
  return JSON.stringify(
    text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH).toWellFormed()}…` : text,
  );
}

function formatNumber(logSeq: number | undefined): string {
  return logSeq === undefined ? "" : ` (event ${logSeq})`;
}

function formatRange({ from, to }: { readonly from: number; readonly to: number }): string {
  return from === to ? `event ${from} is` : `events ${from} to ${to} are`;
}
