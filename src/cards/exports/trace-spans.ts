import { isTraceparent } from "../a2a/index.ts";
import type { Card } from "../card/index.ts";
import type { CallLine, CardCarrier, CardLine, Recording, RunLine } from "../record/index.ts";
import type { Delegation, Span } from "../views/delegations.ts";
import { type Exchange, exchangesOf, recordingOf, type Shown } from "../views/exchanges.ts";
import { spanIdOf, traceIdOf } from "./ids.ts";

/**
 * A span as OpenTelemetry knows it, from a recording. Names and attributes follow the GenAI conventions and the draft for
 * A2A (open-telemetry/semantic-conventions-genai, both in development), and OpenInference where it draws agents.
 */
export interface TraceSpan {
  /** 32 and 16 digits of hex. */
  readonly traceId: string;
  readonly spanId: string;
  /** Missing of the first of a trace. */
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: "internal" | "server" | "client";
  /** The role whose process would have told of it. */
  readonly service: string;
  /** In milliseconds since 1970, to the microsecond. */
  readonly start: number;
  readonly end: number;
  readonly attributes: Readonly<Record<string, string | number | boolean>>;
  /** It failed; the text is empty unless contents are exported. */
  readonly error: string | undefined;
}

export interface TraceOptions {
  /** Whether what cards say is exported too. It may be nobody else's business: default false. */
  readonly content?: boolean;
}

/**
 * The spans of a run, a trace for each problem: the workflow; `invoke_agent` for each task, as its asker and as its worker
 * saw it, with the A2A call between the two where one was recorded; and in it `plan` and `chat`. Ids are those that travelled
 * as `traceparent`; the others are made from the ids of run, problem and card, the same each time.
 */
export function traceSpansOf(shown: Shown, options: TraceOptions = {}): TraceSpan[] {
  const recording = recordingOf(shown);
  const lines = Map.groupBy(recording.cards, ({ card }) => card.metadata.card_id);
  return exchangesOf(recording).flatMap((exchange) =>
    exchange.roots.flatMap((root, at) => new Tracing(recording, lines, exchange, root, at, options).spans()),
  );
}

/** One trace: a root task and all below it. */
class Tracing {
  readonly #run: RunLine | undefined;
  readonly #lines: ReadonlyMap<string | undefined, readonly CardLine[]>;
  readonly #exchange: Exchange;
  readonly #root: Delegation;
  readonly #options: TraceOptions;
  readonly #traceId: string;
  readonly #common: TraceSpan["attributes"];
  /** What the recording's clock is behind the wall's. */
  readonly #offset: number;
  /** Names what has no id of its own. */
  readonly #name: readonly string[];
  readonly #spans: TraceSpan[] = [];

  constructor(
    recording: Recording,
    lines: ReadonlyMap<string | undefined, readonly CardLine[]>,
    exchange: Exchange,
    root: Delegation,
    at: number,
    options: TraceOptions,
  ) {
    const { run, cards } = recording;
    const { sampleId, moments } = exchange;
    const [first] = cards;
    const runId = first?.run_id ?? "";
    this.#run = run;
    this.#lines = lines;
    this.#exchange = exchange;
    this.#root = root;
    this.#options = options;
    this.#offset = first ? Date.parse(first.at) - first.mono_ms : 0;
    // Of several runs of unnamed cards, the time of the first tells which is which.
    this.#name = [runId, sampleId ?? "", String(at), moments[0]?.card.timestamp ?? ""];
    const context = this.#carriers(root.task).find(({ context_id }) => context_id !== undefined)?.context_id;
    this.#common = {
      "gen_ai.conversation.id": context ?? sampleId ?? runId,
      "colloquy.run.id": runId,
      ...(sampleId !== undefined && { "colloquy.sample.id": sampleId }),
      ...(run && { "colloquy.evidence": run.evidence }),
    };
    this.#traceId = this.#travelled(root.task)?.traceId ?? traceIdOf(...this.#name);
  }

  spans(): readonly TraceSpan[] {
    const { task, sent, answered, reply } = this.#root;
    const workflow = this.#run?.method ?? "cards";
    const id = this.#add({
      id: this.#id("workflow"),
      parent: undefined,
      name: `invoke_workflow ${workflow}`,
      service: task.sender,
      times: [sent, answered],
      attributes: {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": workflow,
        "openinference.span.kind": "CHAIN",
        "graph.node.id": task.sender,
        "graph.node.name": task.sender,
      },
      reply,
    });
    this.#delegation(this.#root, "0", id);
    return this.#spans;
  }

  #delegation(one: Delegation, path: string, asker: string): void {
    const { task, reply, sent, begun, done, answered, spans, subtasks } = one;
    const key = task.metadata.card_id ?? path;
    const [asked, worker] = [task.sender, task.recipient];
    const agent = {
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.agent.name": worker,
      "openinference.span.kind": "AGENT",
      ...cardAttributes(task),
    };
    let parent = this.#add({
      id: this.#id("ask", key),
      parent: asker,
      name: `invoke_agent ${worker}`,
      kind: "client",
      service: asked,
      times: [sent, answered],
      attributes: { ...agent, "gen_ai.caller.type": "agent", "gen_ai.caller.name": asked },
      reply,
    });
    const carriers = this.#carriers(task);
    const method = carriers.find((carrier) => carrier.method !== undefined)?.method;
    if (method !== undefined) {
      const rpc = {
        ...a2aAttributes(method, [...carriers, ...this.#carriers(reply)]),
        "gen_ai.agent.name": worker,
      };
      parent = this.#add({
        id: this.#travelled(task)?.spanId ?? this.#id("call", key),
        parent,
        name: method,
        kind: "client",
        service: asked,
        times: [sent, answered],
        attributes: rpc,
        reply,
      });
      // What a worker elsewhere did is known from its own record only.
      if (this.#linesOf(task).some(({ dir }) => dir === "in")) {
        parent = this.#add({
          id: this.#id("serve", key),
          parent,
          name: method,
          kind: "server",
          service: worker,
          times: [begun, done],
          attributes: rpc,
          reply,
        });
      }
    }
    const work = this.#add({
      id: this.#id("work", key),
      parent,
      name: `invoke_agent ${worker}`,
      service: worker,
      times: [begun, done],
      attributes: {
        ...agent,
        "graph.node.id": worker,
        "graph.node.name": worker,
        "graph.node.parent_id": asked,
        ...(this.#options.content && {
          "gen_ai.input.messages": messages("user", task),
          ...(reply && { "gen_ai.output.messages": messages("assistant", reply) }),
        }),
      },
      reply,
    });
    for (const [at, span] of spans.entries()) this.#work(span, `${key}/${at}`, work);
    for (const [at, subtask] of subtasks.entries()) this.#delegation(subtask, `${path}.${at}`, work);
  }

  /** What a role did before a card left: it planned, if the card is a task, and it called models. */
  #work({ role, start, end, card }: Span, path: string, work: string): void {
    const key = card.metadata.card_id ?? path;
    const calls = this.#exchange.calls.filter(({ card_id }) => card_id === card.metadata.card_id);
    const { usage, model } = card.metadata;
    // Where calls are known, what none was made for is no planning: a task of the same plan that had to wait.
    const isGuess = this.#exchange.calls.length === 0 && end > start;
    const isWork = calls.length > 0 || usage !== undefined || isGuess;
    let parent = work;
    if (card.message_type === "task" && isWork) {
      parent = this.#add({
        id: this.#id("plan", key),
        parent: work,
        name: `plan ${role}`,
        service: role,
        times: [start, end],
        attributes: {
          "gen_ai.operation.name": "plan",
          "gen_ai.agent.name": role,
          "openinference.span.kind": "CHAIN",
          ...cardAttributes(card),
        },
      });
    }
    for (const [at, call] of calls.entries()) this.#chat(call, `${key}/${at}`, parent);
    if (calls.length === 0 && usage !== undefined && usage.source !== "none") {
      // Nobody recorded the call; what the card says of it is all there is.
      this.#chat(
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

  #chat(
    call: Pick<CallLine, "role" | "model" | "usage" | "duration_ms" | "mono_ms"> & {
      readonly finish: string | undefined;
      readonly error?: string | undefined;
    },
    key: string,
    parent: string,
  ): void {
    const { role, model, usage, duration_ms, mono_ms, finish, error } = call;
    this.#add({
      id: this.#id("chat", key),
      parent,
      name: `chat ${model}`,
      kind: "client",
      service: role,
      times: [mono_ms - duration_ms, mono_ms],
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": providerOf(model),
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
      ...(error !== undefined && { error: this.#options.content ? error : "" }),
    });
  }

  #add(span: {
    readonly id: string;
    readonly parent: string | undefined;
    readonly name: string;
    readonly kind?: TraceSpan["kind"];
    readonly service: string;
    readonly times: readonly [number, number];
    readonly attributes: TraceSpan["attributes"];
    readonly reply?: Card | undefined;
    readonly error?: string;
  }): string {
    const { id, parent, name, kind = "internal", service, times, attributes, reply } = span;
    const type = reply && errorTypeOf(reply);
    this.#spans.push({
      traceId: this.#traceId,
      spanId: id,
      parentSpanId: parent,
      name,
      kind,
      service,
      start: times[0] + this.#offset,
      end: times[1] + this.#offset,
      attributes: { ...this.#common, ...attributes, ...(type !== undefined && { "error.type": type }) },
      error:
        span.error ?? (type === undefined ? undefined : this.#options.content ? (reply?.content ?? "") : ""),
    });
    return id;
  }

  #id(...parts: readonly string[]): string {
    return spanIdOf(...this.#name, ...parts);
  }

  #linesOf(card: Card): readonly CardLine[] {
    const { card_id } = card.metadata;
    return card_id === undefined ? [] : (this.#lines.get(card_id) ?? []);
  }

  #carriers(card: Card | undefined): CardCarrier[] {
    return card ? this.#linesOf(card).flatMap(({ a2a }) => a2a ?? []) : [];
  }

  /** The place in a distributed trace that travelled with a task. */
  #travelled(task: Card): { readonly traceId: string; readonly spanId: string } | undefined {
    const traceparent = this.#carriers(task).find(
      (carrier) => carrier.traceparent !== undefined,
    )?.traceparent;
    const [, traceId, spanId] = isTraceparent(traceparent) ? traceparent.split("-") : [];
    return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
  }
}

function cardAttributes({ message_type, metadata }: Card): TraceSpan["attributes"] {
  const { card_id, turn } = metadata;
  return {
    "colloquy.card.type": message_type,
    ...(card_id !== undefined && { "colloquy.card.id": card_id }),
    ...(turn !== undefined && { "colloquy.turn": turn }),
  };
}

function a2aAttributes(method: string, carriers: readonly CardCarrier[]): TraceSpan["attributes"] {
  const task = carriers.find(({ task_id }) => task_id !== undefined)?.task_id;
  const message = carriers.find(({ message_id }) => message_id !== undefined)?.message_id;
  return {
    "a2a.method.name": method,
    ...(task !== undefined && { "a2a.task.id": task }),
    ...(message !== undefined && { "a2a.message.id": message }),
  };
}

function errorTypeOf({ message_type, metadata }: Card): string | undefined {
  if (message_type !== "error" && metadata["status"] !== "error") return undefined;
  const { error_type } = metadata;
  return typeof error_type === "string" ? error_type : "_OTHER";
}

/** `openai:gpt-5-mini` is of openai; what has no such beginning stands in for a model. */
function providerOf(model: string): string {
  const provider = /^([a-z][\w.-]*)[:/]/.exec(model)?.[1];
  if (provider === "google" || model.startsWith("gemini")) return "gcp.gemini";
  return provider ?? "colloquy";
}

function messages(role: "user" | "assistant", { content }: Card): string {
  return JSON.stringify([{ role, parts: [{ type: "text", content }] }]);
}
