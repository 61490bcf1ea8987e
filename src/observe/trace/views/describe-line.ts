import { isObject, type JsonValue } from "../../../protocol/index.ts";
import { addModelLineUsage, formatPrice, formatTokens, NO_USAGE } from "../prices/token-usage.ts";
import type { TimelineMark } from "../model/timeline-types.ts";
import { formatState } from "../model/traffic-sequence.ts";
import { findEventState, type TrafficTask } from "../model/traffic-task.ts";
import type { TrafficLine } from "../traffic-line-types.ts";

/** Maximum length of a text in a description, in characters. */
const MAX_TEXT_LENGTH = 100;

/** The members of a union that may have a kind. One member may have several kinds. */
type FindByKind<Item, Kind> = Item extends { readonly kind: infer Kinds }
  ? Kind extends Kinds
    ? Item
    : never
  : never;

/** Functions that describe a line or a mark, by its kind. */
type DescriptionsByKind<Item extends { readonly kind: string }, Rest extends unknown[]> = {
  readonly [Kind in Item["kind"]]: (item: FindByKind<Item, Kind>, ...rest: Rest) => string;
};

const LINE_DESCRIPTIONS: DescriptionsByKind<TrafficLine, [task: TrafficTask | undefined]> = {
  request: ({ operation, to, after }) =>
    `${operation} to ${to}${after === undefined ? "" : ` after event ${after}`}`,
  response: ({ error, status, state, duration_ms }) =>
    [error ?? status ?? "no response", state && formatState(state), formatDuration(duration_ms)]
      .filter(Boolean)
      .join(", "),
  frame: (line, task) =>
    `frame ${line.index}${formatNumber(line.log_seq)}: ${describeEvent(task?.findFrameEvent(line) ?? line.event ?? line.text)}`,
  "stream-end": ({ reason, frames, error }) => `${reason} after ${frames} frames${formatReason(error)}`,
  event: ({ log_seq, event }) => `event ${log_seq}: ${describeEvent(event)}`,
  turn: ({ phase, attempt = 1, error }) =>
    `${phase}${attempt > 1 ? `, attempt ${attempt}` : ""}${formatReason(error)}`,
  model: (line) => {
    const { model, attempts = [], error, finish_reason } = line;
    const usage = addModelLineUsage(NO_USAGE, line);
    const price = formatPrice(usage);
    return [
      `${model}: ${error ?? finish_reason ?? "done"}`,
      ...(attempts.length > 0 ? [`attempt ${attempts.length + 1}`] : []),
      `${formatTokens(usage, true)} tokens`,
      ...(price === "" ? [] : [price]),
      formatDuration(line.duration_ms),
    ].join(", ");
  },
  tool: ({ server, tool, error, duration_ms }) =>
    `${server === undefined ? "" : `${server}/`}${tool}: ${error ?? "done"}, ${formatDuration(duration_ms)}`,
  span: ({ service, name, start_ms, end_ms }) =>
    `${service === undefined ? "" : `${service}: `}${name}, ${formatDuration(end_ms - start_ms)}`,
  push: ({ outcome, log_seq, reason }) => `${outcome}${formatNumber(log_seq)}${formatReason(reason)}`,
  fault: ({ fault, detail }) => `${fault}${detail === undefined ? "" : ` ${detail}`}`,
  loss: ({ lines, reason }) => `${lines} lines lost: ${reason}`,
  run: ({ run_id, dataset, method }) => `run ${run_id}: ${method} on ${dataset}`,
  card: ({ card: { message_type, content } }) =>
    `message card ${describeEvent(message_type)} ${typeof content === "string" ? quote(content) : ""}`,
  score: ({ sample_id, correct, predicted = "no answer" }) =>
    `score of ${sample_id}: ${correct ? "correct" : "wrong"}, ${predicted}`,
  skip: ({ sample_id, error }) => `${sample_id} is skipped: ${error}`,
  end: ({ run_id, status }) => `end of run ${run_id}: ${status}`,
  agent: ({ agent, url }) => `${agent} at ${url}`,
  writer: ({ vantage, name }) => `${vantage} ${name}`,
};

const MARK_DESCRIPTIONS: DescriptionsByKind<TimelineMark, []> = {
  gap: ({ from, to, where }) => `gap: ${formatRange(from, to)} missing in the ${where}`,
  duplicate: ({ where, logSeq }) =>
    `duplicate in the ${where}${logSeq === undefined ? "" : `: event ${logSeq}`}`,
  cut: ({ error }) => `cut${formatReason(error)}`,
  stall: ({ error }) => `stall${formatReason(error)}`,
  "closed-by-reader": ({ error }) => `closed by the reader${formatReason(error)}`,
  resume: ({ after }) => `resume${after === undefined ? "" : ` after event ${after}`}`,
  retry: (mark) => formatAttempt(mark),
  restart: (mark) => formatAttempt(mark),
  fault: ({ fault, detail }) => `fault: ${fault}${detail === undefined ? "" : ` ${detail}`}`,
  "lost-lines": ({ lines }) => `the record lacks ${lines} ${lines === 1 ? "line" : "lines"}`,
};

/** Describes a line of a task in a few words, for example `event 3: completed`. */
export function describeTrafficLine(line: TrafficLine, task?: TrafficTask): string {
  // A later version of Colloquy may write other lines.
  if (!Object.hasOwn(LINE_DESCRIPTIONS, line.kind)) return "";
  const describe = LINE_DESCRIPTIONS[line.kind] as (line: TrafficLine, task?: TrafficTask) => string;
  return describe(line, task);
}

/** Describes a mark in a few words, for example `gap: events 3 to 4 are missing in the stream`. */
export function describeMark(mark: TimelineMark): string {
  const describe = MARK_DESCRIPTIONS[mark.kind] as (mark: TimelineMark) => string;
  return describe(mark);
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
  if (isObject(artifact)) return `artifact ${text}`.trim();
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

function formatAttempt({ kind, attempt }: FindByKind<TimelineMark, "retry">): string {
  return `${kind}: attempt ${attempt}`;
}

function formatReason(reason: string | undefined): string {
  return reason === undefined ? "" : `: ${reason}`;
}

function formatRange(from: number, to: number): string {
  return from === to ? `event ${from} is` : `events ${from} to ${to} are`;
}
