import {
  encodeTrafficLine,
  type RunLine,
  type TrafficLine,
  type TrafficLineInput,
} from "../../observe/trace/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { toCardParts } from "../a2a/index.ts";
import type { MessageCard } from "../message-card/index.ts";
import { decodeRecording, decodeRecordLines, findLineCards, type Recording } from "./index.ts";
import { SCRIPTED_GSM8K_SAMPLES, type ScriptedSample } from "./scripted-samples.fixture.ts";

/** Start time of the scripted runs. */
export const SCRIPTED_RUN_START_MS: number = Date.UTC(2026, 10, 21, 10, 30);

/** Options of a scripted run. */
export interface ScriptedRunOptions extends Partial<
  Omit<RunLine, "v" | "kind" | "writer" | "seq" | "at" | "mono_ms">
> {
  /** Truncates the record in the middle of the line with this number, starting at 0. */
  readonly killAfterLine?: number;
  /** Keeps only the lines that these roles recorded. */
  readonly roles?: readonly string[];
}

/** Creates the recording of a scripted run in which one process runs all three roles. */
export function createScriptedRecording(
  scripts: readonly ScriptedSample[] = SCRIPTED_GSM8K_SAMPLES,
  options: ScriptedRunOptions = {},
): Recording {
  return decodeRecording(createScriptedRecordFileText(scripts, options), "run.cards.jsonl");
}

/** Creates the text of the record file of a scripted run. */
export function createScriptedRecordFileText(
  scripts: readonly ScriptedSample[] = SCRIPTED_GSM8K_SAMPLES,
  options: ScriptedRunOptions = {},
): string {
  const { killAfterLine, roles, ...runOptions } = options;
  const lines: string[] = [];
  let cards = 0;
  let samples = 0;
  const write = (ms: number, line: ScriptedLine): void => {
    const stamps = { v: 1, kind: line.kind, writer: "w", seq: lines.length + 1, mono_ms: ms } as const;
    const at = new Date(SCRIPTED_RUN_START_MS + ms).toISOString();
    lines.push(encodeTrafficLine({ ...stamps, at, ...line } as TrafficLine));
  };
  const run: Omit<RunLine, "v" | "writer" | "seq" | "at" | "mono_ms"> = {
    kind: "run",
    run_id: "run",
    dataset: "gsm8k",
    split: "test",
    sample_ids: scripts.map(({ id }) => id),
    method: "a2a",
    mode: "chained",
    context: "none",
    model: { planner: "scripted", solver: "scripted" },
    limits: { max_turns: 3 },
    evidence: "simulated",
    rule: "gsm8k/strict",
    code: "0.1.0",
    seed: 1,
    ...runOptions,
  };
  write(0, { kind: "writer", vantage: "client", name: "controller", code: "", bodies: true });
  write(0, run);
  let startMs = 0;
  const events = scripts.flatMap((script) => {
    const timed = computeScriptedSampleEvents(script, script.startMs ?? startMs, run.run_id);
    startMs = timed.endMs;
    return timed.events;
  });
  let lastMs = 0;
  for (const { ms, observer, line } of events.toSorted((a, b) => a.ms - b.ms)) {
    lastMs = ms;
    if (roles && observer !== undefined && !roles.includes(observer)) continue;
    if (line.kind === "score") samples += 1;
    else if (line.kind !== "model") cards += 1;
    write(ms, line);
  }
  if (killAfterLine !== undefined) return truncateRecordFileMidLine(`${lines.join("\n")}\n`, killAfterLine);
  write(lastMs, { kind: "end", run_id: run.run_id, status: "completed", cards, samples });
  return `${lines.join("\n")}\n`;
}

/** Returns the first `lines` lines and the beginning of the next one. */
function truncateRecordFileMidLine(text: string, lines: number): string {
  const all = text.split("\n");
  return [...all.slice(0, lines), all[lines]?.slice(0, 40) ?? ""].join("\n");
}

type ScriptedLine =
  | TrafficLineInput
  | Omit<Extract<TrafficLine, { kind: "writer" }>, "v" | "writer" | "seq" | "at" | "mono_ms">;

interface ScriptedRecordingEvent {
  readonly ms: number;
  /** Role whose process records the line. Every process contains the scores. */
  readonly observer?: string;
  readonly line: ScriptedLine;
}

function computeScriptedSampleEvents(
  script: ScriptedSample,
  startMs: number,
  run_id: string,
): { events: ScriptedRecordingEvent[]; endMs: number } {
  const arrivals = new Map<string, number>();
  const events: ScriptedRecordingEvent[] = [];
  let previousArrivalMs = startMs;
  let endMs = startMs;
  for (const [index, step] of script.steps.entries()) {
    const { from, to, type = "task", workMs = 0, travelMs = 1, tokens, content } = step;
    const name = step.name ?? String(index + 1);
    const ready = step.waitsFor?.map((other) => arrivals.get(other) ?? startMs) ?? [previousArrivalMs];
    const sent = Math.max(startMs, ...ready) + workMs;
    const card_id = `${script.id}.${name}`;
    const usage: MessageCard["metadata"]["usage"] = tokens && {
      input_tokens: tokens[0],
      output_tokens: tokens[1],
      ...(tokens[2] !== undefined && { cached_input_tokens: tokens[2] }),
      source: "reported",
    };
    const card: MessageCard = {
      sender: from,
      recipient: to,
      message_type: type,
      content,
      metadata: {
        card_id,
        run_id,
        sample_id: script.id,
        ...(step.inReplyTo !== undefined && { in_reply_to: `${script.id}.${step.inReplyTo}` }),
        ...step.metadata,
        // A sender of a control card has waited and has not worked.
        ...(workMs > 0 && type !== "control" && { duration_ms: workMs }),
        ...(usage && { tokens: usage.input_tokens + usage.output_tokens, usage, model: "scripted" }),
      },
      timestamp: new Date(SCRIPTED_RUN_START_MS + sent).toISOString(),
    };
    if (tokens)
      events.push({
        ms: sent,
        observer: from,
        line: {
          kind: "model",
          call: `m${card_id}`,
          run_id,
          sample_id: script.id,
          agent: from,
          ...(card.metadata.turn !== undefined && { turn: card.metadata.turn }),
          message_id: card_id,
          model: "scripted",
          input_tokens: tokens[0],
          output_tokens: tokens[1],
          ...(tokens[2] !== undefined && { cached_input_tokens: tokens[2] }),
          duration_ms: workMs,
          finish_reason: "stop",
        },
      });
    const body = { message: { parts: toCardParts(card) } } as unknown as JsonObject;
    const isReply = card.metadata.in_reply_to !== undefined && (type === "result" || type === "error");
    events.push(
      isReply
        ? {
            ms: sent + travelMs,
            observer: to,
            line: { kind: "response", call: `c${card.metadata.in_reply_to}`, duration_ms: workMs, body },
          }
        : {
            ms: sent,
            observer: from,
            line: {
              kind: "request",
              call: `c${card_id}`,
              from,
              to,
              binding: "JSONRPC",
              operation: type === "control" ? "CancelTask" : "SendStreamingMessage",
              body,
            },
          },
    );
    previousArrivalMs = sent + travelMs;
    endMs = Math.max(endMs, previousArrivalMs);
    arrivals.set(name, previousArrivalMs);
  }
  const { id: sample_id, gold, predicted = gold, turns, measures } = script;
  if (script.isScored !== false)
    events.push({
      ms: endMs,
      line: {
        kind: "score",
        run_id,
        sample_id,
        ...(predicted !== "" && { predicted }),
        gold,
        correct: predicted === gold,
        rule: "gsm8k/strict",
        ...(turns !== undefined && { turns }),
        ...(measures && { measures }),
      },
    });
  return { events, endMs };
}

/** Returns the lines of a scripted run. */
export function listScriptedLines(): TrafficLine[] {
  const lines = [...decodeRecordLines(createScriptedRecordFileText())];
  return lines.flatMap(({ line }) => ("torn" in line ? [] : line));
}

/** Creates the recording of a scripted run whose lines are changed, or removed if `change` returns `undefined`. */
export function createChangedRecording(
  change: (line: TrafficLine) => TrafficLine | undefined,
  scripts?: readonly ScriptedSample[],
  options?: ScriptedRunOptions,
): Recording {
  const lines = createScriptedRecordFileText(scripts, options)
    .split("\n")
    .flatMap((text) => {
      const line = text === "" ? undefined : change(JSON.parse(text) as TrafficLine);
      return line ? [encodeTrafficLine(line)] : [];
    });
  return decodeRecording(lines, "run.cards.jsonl");
}

/** Changes the message cards of a line. */
export function changeLineCards(line: TrafficLine, change: (card: MessageCard) => MessageCard): TrafficLine {
  if (line.kind !== "request" && line.kind !== "response") return line;
  const parts = findLineCards(line).flatMap((card) => toCardParts(change(card)));
  return { ...line, body: { parts } as unknown as JsonObject };
}
