import { parseTraceparent } from "../../protocol/index.ts";
import { defineOptionNames } from "../../base/usage-checks/index.ts";
import type { MessageCard } from "../message-card/index.ts";
import type { ModelCallLine, CardA2ARequestInfo, CardLine, Recording, RunLine } from "../recording/index.ts";
import type { Delegation, WorkSpan } from "../views/delegated-task-forest.ts";
import {
  type SampleDelegationForest,
  buildSampleDelegationForests,
  convertCardsToRecording,
  type CardsOrRecording,
} from "../views/sample-delegation-forests.ts";
import { parseModelId } from "./parse-model-id.ts";
import { computeSpanId, computeTraceId } from "./trace-ids.ts";

/**
 * OpenTelemetry span derived from a recording. Span names and attributes follow OpenTelemetry's GenAI
 * semantic conventions and its draft conventions for A2A. Both are still in development
 * (open-telemetry/semantic-conventions-genai). The OpenInference attributes of a span describe the agent
 * graph.
 */
export interface TraceSpan {
  /** Trace ID with 32 hexadecimal digits. */
  readonly traceId: string;
  /** Span ID with 16 hexadecimal digits. */
  readonly spanId: string;
  /** ID of the parent span, or `undefined` for the root span of a trace. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  /** Role that reports the span. The role name is the OpenTelemetry service name. */
  readonly service: string;
  /** Start of the span in milliseconds since 1970, with microsecond precision. */
  readonly start: number;
  /** End of the span in milliseconds since 1970, with microsecond precision. */
  readonly end: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /**
   * Error message if the operation failed, or `undefined`. The error message is empty unless `includeContent`
   * is `true`.
   */
  readonly error: string | undefined;
}

/** Options of the trace exporters. */
export interface TraceExportOptions {
  /** Whether to export the texts of message cards. The texts may be confidential. Default: `false`. */
  readonly includeContent?: boolean;
}

const assertKnownOptions = defineOptionNames<TraceExportOptions>()("the trace export", "includeContent");

/**
 * Converts a run into OpenTelemetry spans, with one trace for each problem. A trace contains a workflow span,
 * `plan` and `chat` spans, and spans for each task. The requester and the worker of a task have one
 * `invoke_agent` span each. The recorded A2A call between the two roles also has a span. Trace and span IDs
 * are taken from the recorded `traceparent` if possible. If no `traceparent` was recorded, the IDs are
 * derived from the run ID, problem ID, and card ID. Repeated exports of a run therefore use the same IDs.
 */
export function toTraceSpans(shown: CardsOrRecording, options: TraceExportOptions = {}): TraceSpan[] {
  assertKnownOptions(options);
  const recording = convertCardsToRecording(shown);
  const lines = Map.groupBy(recording.cards, ({ card }) => card.metadata.card_id);
  return buildSampleDelegationForests(recording).flatMap((exchange) =>
    exchange.roots.flatMap((root, at) =>
      new TraceSpanBuilder(recording, lines, exchange, root, at, options).build(),
    ),
  );
}

/** Builds one trace from a root task and all its descendants. */
class TraceSpanBuilder {
  readonly #run: RunLine | undefined;
  readonly #linesByCardId: ReadonlyMap<string | undefined, readonly CardLine[]>;
  readonly #exchange: SampleDelegationForest;
  readonly #root: Delegation;
  readonly #options: TraceExportOptions;
  readonly #traceId: string;
  readonly #commonAttributes: TraceSpan["attributes"];
  /** Offset in milliseconds between the wall clock and the clock of the recording. */
  readonly #wallClockOffset: number;
  /** Hash input for the IDs of spans that have no recorded `traceparent`. */
  readonly #idSeed: readonly string[];
  readonly #spans: TraceSpan[] = [];

  constructor(
    recording: Recording,
    lines: ReadonlyMap<string | undefined, readonly CardLine[]>,
    exchange: SampleDelegationForest,
    root: Delegation,
    at: number,
    options: TraceExportOptions,
  ) {
    const { run, cards } = recording;
    const { sampleId, timings } = exchange;
    const [first] = cards;
    const runId = first?.run_id ?? "";
    this.#run = run;
    this.#linesByCardId = lines;
    this.#exchange = exchange;
    this.#root = root;
    this.#options = options;
    this.#wallClockOffset = first ? Date.parse(first.at) - first.mono_ms : 0;
    // If cards have no run ID, the time of the first card distinguishes several runs.
    this.#idSeed = [runId, sampleId ?? "", String(at), timings[0]?.card.timestamp ?? ""];
    const context = this.#findCardA2ARequestInfos(root.task).find(
      ({ context_id }) => context_id !== undefined,
    )?.context_id;
    this.#commonAttributes = {
      "gen_ai.conversation.id": context ?? sampleId ?? runId,
      "colloquy.run.id": runId,
      ...(sampleId !== undefined && { "colloquy.sample.id": sampleId }),
      ...(run && { "colloquy.evidence": run.evidence }),
    };
    this.#traceId = this.#findTraceContext(root.task)?.traceId ?? computeTraceId(...this.#idSeed);
  }

  build(): readonly TraceSpan[] {
    const { task, sentMs, answeredMs, reply } = this.#root;
    const workflow = this.#run?.method ?? "cards";
    const id = this.#addSpan({
      id: this.#computeSpanId("workflow"),
      parent: undefined,
      name: `invoke_workflow ${workflow}`,
      service: task.sender,
      times: [sentMs, answeredMs],
      attributes: {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": workflow,
        "openinference.span.kind": "CHAIN",
        "graph.node.id": task.sender,
        "graph.node.name": task.sender,
      },
      reply,
    });
    this.#addDelegationSpans(this.#root, "0", id);
    return this.#spans;
  }

  #addDelegationSpans(one: Delegation, path: string, parentId: string): void {
    const { task, reply, sentMs, startMs, doneMs, answeredMs, workSpans, subtasks } = one;
    const key = task.metadata.card_id ?? path;
    const [asker, worker] = [task.sender, task.recipient];
    const agent = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": worker,
      "openinference.span.kind": "AGENT",
      ...getCardAttributes(task),
    };
    let parent = this.#addSpan({
      id: this.#computeSpanId("ask", key),
      parent: parentId,
      name: `invoke_agent ${worker}`,
      kind: "client",
      service: asker,
      times: [sentMs, answeredMs],
      attributes: { ...agent, "gen_ai.caller.type": "agent", "gen_ai.caller.name": asker },
      reply,
    });
    const carriers = this.#findCardA2ARequestInfos(task);
    const method = carriers.find((carrier) => carrier.method !== undefined)?.method;
    if (method !== undefined) {
      const rpc = {
        ...getA2aAttributes(method, [...carriers, ...this.#findCardA2ARequestInfos(reply)]),
        "gen_ai.agent.name": worker,
      };
      parent = this.#addSpan({
        id: this.#findTraceContext(task)?.spanId ?? this.#computeSpanId("call", key),
        parent,
        name: method,
        kind: "client",
        service: asker,
        times: [sentMs, answeredMs],
        attributes: rpc,
        reply,
      });
      // The work of a remote role is known only if its own record is available.
      if (this.#findCardLines(task).some(({ dir }) => dir === "in")) {
        parent = this.#addSpan({
          id: this.#computeSpanId("serve", key),
          parent,
          name: method,
          kind: "server",
          service: worker,
          times: [startMs, doneMs],
          attributes: rpc,
          reply,
        });
      }
    }
    const work = this.#addSpan({
      id: this.#computeSpanId("work", key),
      parent,
      name: `invoke_agent ${worker}`,
      service: worker,
      times: [startMs, doneMs],
      attributes: {
        ...agent,
        "graph.node.id": worker,
        "graph.node.name": worker,
        "graph.node.parent_id": asker,
        ...(this.#options.includeContent && {
          "gen_ai.input.messages": formatGenAiMessages("user", task),
          ...(reply && { "gen_ai.output.messages": formatGenAiMessages("assistant", reply) }),
        }),
      },
      reply,
    });
    for (const [at, span] of workSpans.entries()) this.#addCardWorkSpans(span, `${key}/${at}`, work);
    for (const [at, subtask] of subtasks.entries()) this.#addDelegationSpans(subtask, `${path}.${at}`, work);
  }

  /**
   * Adds the spans for the work that produced a message card. Task cards have a `plan` span, and model calls
   * have `chat` spans.
   */
  #addCardWorkSpans({ role, start, end, card }: WorkSpan, path: string, work: string): void {
    const key = card.metadata.card_id ?? path;
    const calls = this.#exchange.calls.filter(({ card_id }) => card_id === card.metadata.card_id);
    const { usage, model } = card.metadata;
    // If calls are recorded, a task without a call was not planned separately: it is part of an earlier plan
    // and had to wait.
    const isGuess = this.#exchange.calls.length === 0 && end > start;
    const isWork = calls.length > 0 || usage !== undefined || isGuess;
    let parent = work;
    if (card.message_type === "task" && isWork) {
      parent = this.#addSpan({
        id: this.#computeSpanId("plan", key),
        parent: work,
        name: `plan ${role}`,
        service: role,
        times: [start, end],
        attributes: {
          "gen_ai.operation.name": "plan",
          "gen_ai.agent.name": role,
          "openinference.span.kind": "CHAIN",
          ...getCardAttributes(card),
        },
      });
    }
    for (const [at, call] of calls.entries()) this.#addChatSpan(call, `${key}/${at}`, parent);
    if (calls.length === 0 && usage !== undefined && usage.source !== "none") {
      // The call was not recorded, so the span uses the data of the card.
      this.#addChatSpan(
        {
          role,
          model: model ?? "unknown",
          usage,
          duration_ms: end - start,
          mono_ms: end,
          finish: undefined,
          error: undefined,
        },
        key,
        parent,
      );
    }
  }

  #addChatSpan(
    call: Pick<ModelCallLine, "role" | "model" | "usage" | "duration_ms" | "mono_ms"> & {
      readonly finish: string | undefined;
      readonly error?: string | undefined;
    },
    key: string,
    parent: string,
  ): void {
    const { role, usage, duration_ms, mono_ms, finish, error } = call;
    const { provider, model } = parseModelId(call.model);
    this.#addSpan({
      id: this.#computeSpanId("chat", key),
      parent,
      name: `chat ${model}`,
      kind: "client",
      service: role,
      times: [mono_ms - duration_ms, mono_ms],
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
        "gen_ai.agent.name": role,
        "openinference.span.kind": "LLM",
        ...(usage.source !== "none" && {
          "gen_ai.usage.input_tokens": usage.input_tokens,
          "gen_ai.usage.output_tokens": usage.output_tokens,
          ...(usage.cached_input_tokens !== undefined && {
            "gen_ai.usage.cache_read.input_tokens": usage.cached_input_tokens,
          }),
          "colloquy.usage.source": usage.source,
        }),
        ...(finish !== undefined && { "colloquy.finish_reason": finish }),
        ...(error !== undefined && { "error.type": "model_error" }),
      },
      ...(error !== undefined && { error: this.#options.includeContent ? error : "" }),
    });
  }

  #addSpan(span: {
    readonly id: string;
    readonly parent: string | undefined;
    readonly name: string;
    readonly kind?: TraceSpan["kind"];
    readonly service: string;
    readonly times: readonly [number, number];
    readonly attributes: TraceSpan["attributes"];
    readonly reply?: MessageCard | undefined;
    readonly error?: string;
  }): string {
    const { id, parent, name, kind = "internal", service, times, attributes, reply } = span;
    const type = reply && findErrorType(reply);
    this.#spans.push({
      traceId: this.#traceId,
      spanId: id,
      parentSpanId: parent,
      name,
      kind,
      service,
      start: times[0] + this.#wallClockOffset,
      end: times[1] + this.#wallClockOffset,
      attributes: {
        ...this.#commonAttributes,
        ...attributes,
        ...(type !== undefined && { "error.type": type }),
      },
      error:
        span.error ??
        (type === undefined ? undefined : this.#options.includeContent ? (reply?.content ?? "") : ""),
    });
    return id;
  }

  #computeSpanId(...parts: readonly string[]): string {
    return computeSpanId(...this.#idSeed, ...parts);
  }

  #findCardLines(card: MessageCard): readonly CardLine[] {
    const { card_id } = card.metadata;
    return card_id === undefined ? [] : (this.#linesByCardId.get(card_id) ?? []);
  }

  #findCardA2ARequestInfos(card: MessageCard | undefined): CardA2ARequestInfo[] {
    return card ? this.#findCardLines(card).flatMap(({ a2a }) => a2a ?? []) : [];
  }

  /** Returns the trace ID and span ID that were recorded for a task. */
  #findTraceContext(task: MessageCard): { readonly traceId: string; readonly spanId: string } | undefined {
    const traceparent = this.#findCardA2ARequestInfos(task).find(
      (carrier) => carrier.traceparent !== undefined,
    )?.traceparent;
    return parseTraceparent(traceparent);
  }
}

function getCardAttributes({ message_type, metadata }: MessageCard): TraceSpan["attributes"] {
  const { card_id, turn } = metadata;
  return {
    "colloquy.card.type": message_type,
    ...(card_id !== undefined && { "colloquy.card.id": card_id }),
    ...(turn !== undefined && { "colloquy.turn": turn }),
  };
}

function getA2aAttributes(method: string, carriers: readonly CardA2ARequestInfo[]): TraceSpan["attributes"] {
  const task = carriers.find(({ task_id }) => task_id !== undefined)?.task_id;
  const message = carriers.find(({ message_id }) => message_id !== undefined)?.message_id;
  return {
    "a2a.method.name": method,
    ...(task !== undefined && { "a2a.task.id": task }),
    ...(message !== undefined && { "a2a.message.id": message }),
  };
}

function findErrorType({ message_type, metadata }: MessageCard): string | undefined {
  if (message_type !== "error" && metadata["status"] !== "error") return undefined;
  const { error_type } = metadata;
  return typeof error_type === "string" ? error_type : "_OTHER";
}

function formatGenAiMessages(role: "user" | "assistant", { content }: MessageCard): string {
  return JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
}
