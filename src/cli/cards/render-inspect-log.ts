import { omitUndefined, pickOptions } from "../../base/usage-checks/index.ts";
import {
  computeMean,
  computeMeasureMeans,
  convertUsageToTokenCounts,
  getScoreOutcome,
  type MessageCard,
  type RecordedCall,
  type RecordedSample,
  type Recording,
  sumUsageTokens,
  type TokenCounts,
} from "../../cards/index.ts";
import { isObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { createUsageError } from "../cli-error.ts";
import { renderJson } from "../text-writer.ts";

/**
 * Renders a run as an evaluation log of Inspect AI (`inspect view` and `inspect_ai.log.read_eval_log`). The messages of
 * a sample are its message cards, and its events are the model calls. Inspect calls a problem without an answer because
 * of an error an error, and counts only scored problems as completed.
 */
export function renderInspectLog({ runId = "", run, samples, ends, cards, calls }: Recording): string {
  if (!run)
    throw createUsageError("The cards have no run line.", "Pass the recording of the run (.cards.jsonl).");
  const { dataset, method, rule, sample_ids, at, seed } = run;
  const model = [...new Set(Object.values(run.model))].join("+");
  const finished = samples.filter(({ score, skip }) => score !== undefined || skip !== undefined);
  const scored = finished.filter(({ score }) => score !== undefined);
  const end = ends.at(-1);
  return `${renderJson({
    version: 2,
    status: { completed: "success", interrupted: "cancelled", failed: "error", none: "started" }[
      end?.status ?? "none"
    ],
    eval: {
      eval_id: runId,
      run_id: runId,
      task_id: runId,
      created: at,
      task: `${dataset}/${method}`,
      dataset: { name: dataset, samples: sample_ids.length, sample_ids, shuffled: false },
      model,
      model_generate_config: seed === undefined ? {} : { seed },
      config: { epochs: 1 },
      metadata: pickOptions(
        run as unknown as JsonObject,
        "method mode context evidence limits options servers prompts_sha256 data_sha256 split code",
      ),
    },
    plan: { name: method, steps: [] },
    results: {
      total_samples: sample_ids.length,
      completed_samples: scored.length,
      scores: listMetrics(scored).map(({ name, metrics }) => ({
        name,
        scorer: rule,
        scored_samples: scored.length,
        unscored_samples: finished.length - scored.length,
        metrics,
      })),
    },
    stats: {
      started_at: at,
      completed_at: end?.at ?? cards.at(-1)?.timestamp ?? at,
      model_usage: groupUsage(calls, ({ line }) => line.model),
      role_usage: groupUsage(calls, ({ role }) => role),
    },
    ...(end?.status === "failed" && { error: toInspectError("The run failed.") }),
    samples: finished.map((sample) => toInspectSample(sample, rule, model)),
  })}\n`;
}

/** Returns the accuracy of the scorer, and the mean of each additional measure. */
function listMetrics(scored: readonly RecordedSample[]): { name: string; metrics: object }[] {
  const scores = scored.flatMap(({ score }) => score ?? []);
  const accuracy = scores.length > 0 ? computeMean(scores.map(({ correct }) => (correct ? 1 : 0))) : 0;
  return [
    { name: "answer", metrics: { accuracy: { name: "accuracy", value: accuracy } } },
    ...Object.entries(computeMeasureMeans(scores)).map(([name, value]) => ({
      name,
      metrics: { mean: { name: "mean", value } },
    })),
  ];
}

function toInspectSample(
  { id = "", cards, timedCards, calls, score, skip }: RecordedSample,
  rule: string,
  model: string,
): object {
  const [task] = cards;
  const reply = cards.at(-1);
  const [first, last] = [timedCards[0], timedCards.at(-1)];
  const measures = Object.entries(score?.measures ?? {});
  const error = score?.error ?? skip?.error;
  return {
    id,
    epoch: 1,
    input: task?.content ?? "",
    target: score?.gold ?? "",
    messages: cards.map(toChatMessage),
    output: {
      model,
      choices: [{ message: { role: "assistant", content: reply?.content ?? "" }, stop_reason: "stop" }],
      usage: toModelUsage(sumUsageTokens(calls.map(({ usage }) => usage))),
    },
    ...(score && {
      scores: {
        answer: {
          value: score.correct ? "C" : "I",
          answer: score.predicted ?? "",
          explanation: getScoreOutcome(score),
          metadata: { rule },
        },
        ...Object.fromEntries(measures.map(([name, value]) => [name, { value }])),
      },
    }),
    metadata: omitUndefined({ turns: score?.turns }),
    model_usage: groupUsage(calls, ({ line }) => line.model),
    role_usage: groupUsage(calls, ({ role }) => role),
    events: calls.map(toModelEvent),
    ...(first &&
      last && {
        started_at: new Date(first.sentMs).toISOString(),
        completed_at: new Date(last.arrivedMs).toISOString(),
        total_time: (last.arrivedMs - first.sentMs) / 1_000,
      }),
    ...(error !== undefined && { error: toInspectError(error) }),
  };
}

/** The requests of the controller are messages of the user, and all other cards are messages of the assistant. */
function toChatMessage({ sender, recipient, message_type, content, metadata }: MessageCard): object {
  const { card_id, run_id: _run, sample_id: _sample, usage: _usage, ...rest } = metadata;
  return {
    ...(card_id !== undefined && { id: card_id }),
    role: sender === "controller" ? "user" : "assistant",
    content,
    metadata: { sender, recipient, message_type, ...rest },
  };
}

function toModelEvent({ line, role, usage }: RecordedCall): object {
  const { model, at, prompt, reply, error, finish_reason = "", duration_ms } = line;
  const { messages = [], maxTokens, temperature, seed }: Partial<JsonObject> = isObject(prompt) ? prompt : {};
  const choice = {
    message: { role: "assistant", content: toText(reply ?? "") },
    stop_reason: STOP_REASONS[finish_reason] ?? "unknown",
  };
  return {
    event: "model",
    timestamp: at,
    working_start: 0,
    model,
    role,
    input: (Array.isArray(messages) ? messages : [])
      .filter(isObject)
      .map(({ role = "user", text = "" }) => ({ role, content: text })),
    tools: [],
    tool_choice: "none",
    config: omitUndefined({ max_tokens: maxTokens, temperature, seed }),
    output: {
      model,
      choices: reply === undefined ? [] : [choice],
      usage: toModelUsage(convertUsageToTokenCounts(usage)),
      time: duration_ms / 1_000,
      ...omitUndefined({ error }),
    },
    ...omitUndefined({ error }),
  };
}

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "stop",
  length: "max_tokens",
  filter: "content_filter",
};

function groupUsage(
  calls: readonly RecordedCall[],
  findKey: (call: RecordedCall) => string,
): Record<string, object> {
  const groups = Map.groupBy(calls, findKey);
  return Object.fromEntries(
    [...groups].map(([key, group]) => [key, toModelUsage(sumUsageTokens(group.map(({ usage }) => usage)))]),
  );
}

/** Converts token counts. In Inspect, `input_tokens` excludes the tokens that were read from a cache. */
function toModelUsage({ input, output, cached, reasoning }: TokenCounts): object {
  return {
    input_tokens: input - cached,
    output_tokens: output,
    total_tokens: input + output,
    ...(cached > 0 && { input_tokens_cache_read: cached }),
    ...(reasoning > 0 && { reasoning_tokens: reasoning }),
  };
}

function toInspectError(message: string): object {
  return { message, traceback: "", traceback_ansi: "" };
}

function toText(value: JsonValue): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
