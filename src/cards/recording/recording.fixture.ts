import type { CardTokenUsage, MessageCard } from "../message-card/index.ts";
import {
  type ModelCallRecordInput,
  type CardRecordInput,
  createRecorder,
  decodeRecording,
  createMemorySink,
  type Recording,
  type RunRecordInput,
} from "./index.ts";
import { SCRIPTED_GSM8K_SAMPLES, type ScriptedSample } from "./scripted-samples.fixture.ts";

/** Start time of the scripted runs. */
export const SCRIPTED_RUN_START_MS: number = Date.UTC(2026, 10, 21, 10, 30);

/** Options of a scripted run. */
export interface ScriptedRunOptions extends Partial<RunRecordInput> {
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
  const clock = { ms: 0 };
  const sink = createMemorySink();
  const recorder = createRecorder(sink, {
    now: () => SCRIPTED_RUN_START_MS + clock.ms,
    monotonicNow: () => clock.ms,
  });
  const run: RunRecordInput = {
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
  recorder.startRun(run);
  let startMs = 0;
  const timedEvents = scripts.flatMap((script) => {
    const { events, endMs } = computeScriptedSampleEvents(script, script.startMs ?? startMs, run.run_id);
    startMs = endMs;
    return events;
  });
  for (const event of timedEvents.toSorted((a, b) => a.ms - b.ms)) {
    clock.ms = event.ms;
    if ("card" in event && (!roles || roles.includes(event.card.at_role))) recorder.recordCard(event.card);
    if ("call" in event && (!roles || roles.includes(event.call.role))) recorder.recordModelCall(event.call);
    if ("script" in event && event.script.isScored !== false) {
      const { id, gold, predicted = gold, turns, measures } = event.script;
      recorder.recordSampleScore({
        run_id: run.run_id,
        sample_id: id,
        ...(predicted !== "" && { predicted }),
        gold,
        correct: predicted === gold,
        rule: run.rule,
        ...(turns !== undefined && { turns }),
        ...(measures && { measures }),
      });
    }
  }
  if (killAfterLine === undefined) recorder.endRun("completed");
  return killAfterLine === undefined ? sink.text() : truncateRecordFileMidLine(sink.text(), killAfterLine);
}

/** Returns the first `lines` lines and the beginning of the next one. */
function truncateRecordFileMidLine(text: string, lines: number): string {
  const all = text.split("\n");
  return [...all.slice(0, lines), all[lines]?.slice(0, 40) ?? ""].join("\n");
}

type ScriptedRecordingEvent = { readonly ms: number } & (
  | { readonly card: CardRecordInput }
  | { readonly call: ModelCallRecordInput }
  | { readonly script: ScriptedSample }
);

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
    const usage: CardTokenUsage | undefined = tokens && {
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
    const seen = { run_id, sample_id: script.id, card };
    if (usage)
      events.push({
        ms: sent,
        call: {
          run_id,
          sample_id: script.id,
          role: from,
          ...(card.metadata.turn !== undefined && { turn: card.metadata.turn }),
          card_id,
          model: "scripted",
          usage,
          duration_ms: workMs,
          finish: "stop",
        },
      });
    events.push({ ms: sent, card: { ...seen, dir: "out", at_role: from } });
    events.push({ ms: sent + travelMs, card: { ...seen, dir: "in", at_role: to } });
    previousArrivalMs = sent + travelMs;
    endMs = Math.max(endMs, previousArrivalMs);
    arrivals.set(name, previousArrivalMs);
  }
  events.push({ ms: endMs, script });
  return { events, endMs };
}
