import { toSingleLine } from "../../../cards/index.ts";
import {
  formatTaskState,
  getText,
  type Part,
  type StreamResponse,
  type TaskState,
} from "../../../protocol/index.ts";
import {
  addModelLineUsage,
  describeTrafficLine,
  formatTokens,
  NO_USAGE,
  type TrafficLine,
  type TrafficModel,
} from "../../../observe/trace/index.ts";
import { formatDuration } from "../cards/text-format.ts";
import { formatBytes } from "../parts/byte-format.ts";
import { formatJson } from "../parts/json-text.ts";

/** A line of a record in a few words. */
export interface LineDescription {
  /** Kind of the entry for people, for example `status` or `request`. */
  readonly kind: string;
  readonly text: string;
  /** Tone of the text, which repeats what the text states. */
  readonly tone?: "good" | "bad" | "warn" | "wait";
}

const MAX_TEXT_LENGTH = 160;
const UNKNOWN_SENDER = "client";

/** Names the sender of a message to an agent: an agent, `You` for this console, or a client. */
export function findSender({ exchanges }: TrafficModel, messageId: string): string {
  return exchanges.find((exchange) => exchange.messageId === messageId)?.from ?? UNKNOWN_SENDER;
}

/**
 * Describes a line for the timeline of a task. Text of agents is on one line, with visible control characters. `model`
 * names the caller of a request, which other lines can state.
 */
export function describeLine(line: TrafficLine, model?: TrafficModel): LineDescription {
  if (line.kind === "event" || line.kind === "frame") return describeEventLine(line);
  const tone = chooseTone(line);
  const kind = KIND_NAMES.get(line.kind) ?? line.kind;
  return { kind, text: describeLineText(line, model), ...(tone && { tone }) };
}

function describeLineText(
  line: Exclude<TrafficLine, { kind: "event" | "frame" }>,
  model: TrafficModel | undefined,
): string {
  if (line.kind === "request") {
    const { from = line.from ?? UNKNOWN_SENDER, to = line.to } =
      model?.findExchange(`${line.writer}/${line.call}`) ?? {};
    return `${from} → ${to}: ${line.operation}${line.after === undefined ? "" : ` after event ${line.after}`}`;
  }
  const error = "error" in line && line.error !== undefined ? `: ${toShortText(line.error)}` : "";
  if (line.kind === "response")
    return `${line.status ?? "no response"} after ${formatDuration(line.duration_ms)}${error || (line.is_stream ? ": stream" : "")}`;
  if (line.kind === "model")
    return `${line.model} · ${formatDuration(line.duration_ms)} · ${formatTokens(addModelLineUsage(NO_USAGE, line), true)} tokens${error}`;
  if (line.kind === "tool")
    return `${line.tool}(${toShortText(formatJson(line.arguments ?? {}))}) · ${formatDuration(line.duration_ms)}`;
  return toShortText(describeTrafficLine(line));
}

/** Names of kinds that differ from the names in a record. */
const KIND_NAMES: ReadonlyMap<string, string> = new Map([
  ["stream-end", "stream end"],
  ["agent", "agent card"],
  ["card", "message card"],
  ["end", "end of run"],
]);

function chooseTone(line: TrafficLine): LineDescription["tone"] {
  const { kind } = line;
  if (kind === "fault" || kind === "loss") return "warn";
  if (kind === "stream-end") return line.reason === "completed" ? undefined : "warn";
  if (kind === "score") return line.correct ? undefined : "warn";
  if (kind === "push") return line.outcome === "delivered" ? undefined : "bad";
  const isRefused = kind === "response" && typeof line.status === "number" && line.status >= 400;
  return isRefused || ("error" in line && line.error !== undefined) ? "bad" : undefined;
}

function describeEventLine(line: Extract<TrafficLine, { kind: "event" | "frame" }>): LineDescription {
  const event = line.event as StreamResponse | undefined;
  if (event !== undefined) return describeEvent(event);
  const text = line.kind === "frame" ? toShortText(line.text ?? "") : "";
  const size = line.bytes === undefined ? "" : formatBytes(line.bytes);
  return { kind: line.kind, text: text || size };
}

/** Describes an event of a task. The JSON may come from a stranger, so that members may be missing. */
export function describeEvent(event: StreamResponse): LineDescription {
  if ("task" in event)
    return describeStatus("task", event.task?.status?.state, event.task?.status?.message?.parts);
  if ("statusUpdate" in event) {
    const { status } = event.statusUpdate ?? {};
    return describeStatus("status", status?.state, status?.message?.parts);
  }
  if ("artifactUpdate" in event) {
    const { artifact, append, lastChunk } = event.artifactUpdate ?? {};
    const name = artifact?.name ?? artifact?.artifactId ?? "";
    const change = `${append === true ? "+ " : ""}${name}${lastChunk === true ? " (last chunk)" : ""}`;
    return { kind: "artifact", text: `${toShortText(change)}: ${describeParts(artifact?.parts)}` };
  }
  if ("message" in event) {
    const { role, parts } = event.message ?? {};
    return { kind: "message", text: `${role === "ROLE_USER" ? "user" : "agent"}: ${describeParts(parts)}` };
  }
  return { kind: "event", text: toShortText(formatJson(event)) };
}

function describeStatus(
  kind: string,
  state: TaskState | undefined,
  parts: readonly Part[] | undefined,
): LineDescription {
  const text = parts === undefined ? "" : describeParts(parts);
  const tone = state === undefined ? undefined : TONES_BY_STATE.get(state);
  const word = state === undefined ? "" : formatTaskState(state);
  return { kind, text: text === "" ? word : `${word}: ${text}`, ...(tone === undefined ? {} : { tone }) };
}

const TONES_BY_STATE: ReadonlyMap<string, "good" | "bad" | "warn" | "wait"> = new Map([
  ["TASK_STATE_COMPLETED", "good"],
  ["TASK_STATE_FAILED", "bad"],
  ["TASK_STATE_REJECTED", "bad"],
  ["TASK_STATE_CANCELED", "warn"],
  ["TASK_STATE_INPUT_REQUIRED", "wait"],
  ["TASK_STATE_AUTH_REQUIRED", "wait"],
]);

/** Describes the content of a message: its text, or the names of its files and data. */
export function describeParts(parts: readonly Part[] | undefined): string {
  if (!Array.isArray(parts)) return "";
  const text = toShortText(getText(parts as Part[]));
  const others = (parts as Part[]).filter((part) => !("text" in part));
  return [text, ...others.map((part) => toShortText(describeOtherPart(part)))]
    .filter((one) => one !== "")
    .join(" · ");
}

function describeOtherPart(part: Part): string {
  if ("data" in part) return formatJson(part.data);
  return part.filename ?? ("url" in part ? part.url : (part.mediaType ?? "file"));
}

/** Cuts before the text is normalized, because agents may send megabytes. */
export function toShortText(text: string): string {
  const line = toSingleLine(text.slice(0, MAX_TEXT_LENGTH * 2));
  const characters = Array.from(line);
  const isCut = characters.length > MAX_TEXT_LENGTH || text.length > MAX_TEXT_LENGTH * 2;
  return isCut ? `${characters.slice(0, MAX_TEXT_LENGTH).join("")}…` : line;
}
