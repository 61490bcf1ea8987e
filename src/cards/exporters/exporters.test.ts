import { createRequire } from "node:module";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject, JsonValue } from "../../protocol/index.ts";
import { arbitraryCard, createGsm8kExampleCards } from "../message-card/message-card.fixture.ts";
import type { MessageCard } from "../message-card/index.ts";
import { type CardLine, type Recording, createRecordingFromCards } from "../recording/index.ts";
import { createScriptedRecording, SCRIPTED_RUN_START_MS } from "../recording/recording.fixture.ts";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  createScriptedSamples,
  SCRIPTED_PARALLEL_TASKS_SAMPLE,
  SCRIPTED_GSM8K_SAMPLES,
  SCRIPTED_TIMEOUT_SAMPLE,
} from "../recording/scripted-samples.fixture.ts";
import { toOtlpTraces, toPerfettoTrace, toTraceabilityTraces } from "./index.ts";
import { type TraceSpan, toTraceSpans } from "./trace-spans.ts";

/** Arbitrary cards of few roles, which often belong together and overlap in time. */
const arbitraryCards: fc.Arbitrary<MessageCard[]> = fc.array(
  fc
    .tuple(
      arbitraryCard,
      fc.record({
        sender: fc.constantFrom("controller", "planner", "solver"),
        recipient: fc.constantFrom("controller", "planner", "solver"),
        message_type: fc.constantFrom("task", "task", "result", "query", "error"),
        timestamp: fc.integer({ min: 0, max: 9_000 }).map((ms) => new Date(ms).toISOString()),
      }),
      fc.record(
        {
          card_id: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
          in_reply_to: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
          sample_id: fc.constantFrom("x", "y"),
          duration_ms: fc.double({ min: 0, max: 5_000, noNaN: true }),
        },
        { requiredKeys: [] },
      ),
    )
    .map(([card, ends, metadata]) => ({ ...card, ...ends, metadata })),
  { maxLength: 16 },
);

/** Arbitrary runs whose calls report durations and times that do not fit the cards. */
const arbitraryRecording: fc.Arbitrary<Recording> = fc.oneof(
  arbitraryCards.map(createRecordingFromCards),
  fc
    .array(fc.tuple(fc.integer({ min: 0, max: 9_000 }), fc.integer({ min: -500, max: 500 })), {
      minLength: 30,
      maxLength: 30,
    })
    .map((amounts) => {
      const run = createScriptedRecording(SCRIPTED_GSM8K_SAMPLES);
      const calls = run.calls.map((call, at) => {
        const [duration_ms, off] = amounts[at % amounts.length] ?? [0, 0];
        return { ...call, duration_ms, mono_ms: call.mono_ms + off };
      });
      return { ...run, calls };
    }),
);

/** A recording in which A2A carried the cards with their trace context. */
function createRecordingWithTraceparents(): Recording {
  const recording = createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]);
  const span: Record<string, string> = {
    q: "1111111111111111",
    s1: "2222222222222222",
    s2: "3333333333333333",
  };
  const carrying = (line: CardLine): CardLine => {
    const id = line.card.metadata.card_id?.split(".")[1] ?? "";
    return {
      ...line,
      a2a: {
        method: "SendStreamingMessage",
        context_id: "context",
        task_id: `task-${id}`,
        ...(span[id] && { traceparent: `00-0af7651916cd43dd8448eb211c80319c-${span[id]}-01` }),
      },
    };
  };
  return { ...recording, cards: recording.cards.map(carrying) };
}

/** Formats the tree of spans as text. */
function formatSpanTree(spans: readonly TraceSpan[], parent?: string): unknown[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === parent)
    .toSorted((a, b) => a.start - b.start)
    .map(({ spanId, name, kind, service }) => {
      const below = formatSpanTree(spans, spanId);
      const self = `${name} (${kind}, ${service})`;
      return below.length > 0 ? [self, below] : self;
    });
}

describe("the spans of a run", () => {
  it("form a tree of A2A calls, planning, and model calls", () => {
    expect(formatSpanTree(toTraceSpans(createRecordingWithTraceparents()))).toEqual(EXPECTED_SPAN_TREE);
  });

  it("have the transmitted trace IDs, so that they join the spans of other processes", () => {
    const spans = toTraceSpans(createRecordingWithTraceparents());
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(
      new Set(["0af7651916cd43dd8448eb211c80319c"]),
    );
    const calls = spans.filter(({ name, kind }) => name === "SendStreamingMessage" && kind === "client");
    expect(calls.map(({ spanId }) => spanId)).toEqual([
      "1111111111111111",
      "2222222222222222",
      "3333333333333333",
    ]);
    expect(calls[1]?.attributes).toMatchObject({
      "a2a.method.name": "SendStreamingMessage",
      "a2a.task.id": "task-s1",
      "gen_ai.conversation.id": "context",
    });
  });

  it("have reproducible and distinct IDs if no trace IDs were transmitted", () => {
    const run = createScriptedRecording(createScriptedSamples(200));
    const spans = toTraceSpans(run);
    expect(spans).toEqual(toTraceSpans(run));
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(200);
  });

  it("include token usage and the position of an agent in the graph", () => {
    const spans = toTraceSpans(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]));
    const [chat] = spans.filter(({ name }) => name.startsWith("chat"));
    expect(chat).toMatchObject({
      start: SCRIPTED_RUN_START_MS + 1,
      end: SCRIPTED_RUN_START_MS + 821,
      attributes: {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "scripted",
        "gen_ai.usage.input_tokens": 182,
        "gen_ai.usage.output_tokens": 31,
        "colloquy.sample.id": "gsm8k_0",
        "colloquy.evidence": "simulated",
      },
    });
    expect(
      spans.find(({ name, kind }) => name === "invoke_agent solver" && kind === "internal")?.attributes,
    ).toMatchObject({
      "graph.node.id": "solver",
      "graph.node.parent_id": "planner",
      "openinference.span.kind": "AGENT",
    });
  });

  it("include errors and their reasons", () => {
    const failed = toTraceSpans(createScriptedRecording([SCRIPTED_TIMEOUT_SAMPLE])).filter(
      ({ error }) => error !== undefined,
    );
    expect(failed.map(({ name, attributes }) => [name, attributes["error.type"]])).toEqual([
      ["invoke_workflow a2a", "timeout"],
      ["invoke_agent planner", "timeout"],
      ["invoke_agent planner", "timeout"],
      ["invoke_agent solver", "cancelled"],
      ["invoke_agent solver", "cancelled"],
    ]);
  });

  it("include card contents only with `includeContent`", () => {
    const said = JSON.stringify(toOtlpTraces(createScriptedRecording(SCRIPTED_GSM8K_SAMPLES)));
    for (const word of ["ducks", "$18", "Stopped before", "bolts"]) expect(said).not.toContain(word);
    const all = JSON.stringify(
      toOtlpTraces(createScriptedRecording(SCRIPTED_GSM8K_SAMPLES), { includeContent: true }),
    );
    for (const word of ["ducks", "$18", "Stopped before", "bolts"]) expect(all).toContain(word);
  });

  it("end after their start and share the trace of their parent, for arbitrary cards", () => {
    fc.assert(
      fc.property(arbitraryRecording, (run) => {
        const spans = toTraceSpans(run);
        const byId = new Map(spans.map((span) => [span.spanId, span]));
        for (const { start, end, parentSpanId, traceId } of spans) {
          expect(start).toBeLessThanOrEqual(end);
          const parent = parentSpanId === undefined ? undefined : byId.get(parentSpanId);
          if (parentSpanId !== undefined) expect(parent?.traceId).toBe(traceId);
        }
      }),
    );
  });
});

interface ProtobufType {
  verify(object: unknown): string | null;
  encode(message: unknown): { finish(): Uint8Array };
  decode(bytes: Uint8Array): { resourceSpans: { scopeSpans: { spans: unknown[] }[] }[] };
}

/** Encodes an OpenTelemetry message like its exporters. */
const ExportTraceServiceRequest = (
  createRequire(import.meta.url)("@opentelemetry/otlp-transformer/build/src/generated/root.js") as {
    opentelemetry: { proto: { collector: { trace: { v1: { ExportTraceServiceRequest: ProtobufType } } } } };
  }
).opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;

/** Converts hexadecimal IDs to bytes and large decimal strings to two halves, as in the binary message. */
function toProtobufObject(value: JsonValue): unknown {
  if (Array.isArray(value)) return value.map(toProtobufObject);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      if (typeof member === "string" && /^(trace|span|parentSpan)Id$/.test(name))
        return [name, Buffer.from(member, "hex")];
      if (typeof member !== "string" || !/(UnixNano|^intValue)$/.test(name))
        return [name, toProtobufObject(member)];
      expect(member).toMatch(/^-?\d+$/);
      const number = BigInt(member);
      return [name, { low: Number(BigInt.asIntN(32, number)), high: Number(number >> 32n), unsigned: false }];
    }),
  );
}

function listOtlpSpans(request: JsonObject): JsonObject[] {
  const { resourceSpans } = request as unknown as {
    resourceSpans: { scopeSpans: { spans: JsonObject[] }[] }[];
  };
  return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

describe("OTLP in JSON", () => {
  it("is a complete OpenTelemetry message", () => {
    const request = toOtlpTraces(createScriptedRecording(SCRIPTED_GSM8K_SAMPLES), { includeContent: true });
    const message = toProtobufObject(request);
    expect(ExportTraceServiceRequest.verify(message)).toBe(null);
    const decoded = ExportTraceServiceRequest.decode(ExportTraceServiceRequest.encode(message).finish());
    const spans = decoded.resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap((scope) => scope.spans),
    );
    expect(spans).toHaveLength(listOtlpSpans(request).length);
  });

  it("has hexadecimal IDs, numeric kinds, and times as strings of nanoseconds, for arbitrary cards", () => {
    fc.assert(
      fc.property(arbitraryRecording, (run) => {
        const request = toOtlpTraces(run, { includeContent: true });
        expect(ExportTraceServiceRequest.verify(toProtobufObject(request))).toBe(null);
        for (const span of listOtlpSpans(request)) {
          expect(span["traceId"]).toMatch(/^[0-9a-f]{32}$/);
          expect(span["spanId"]).toMatch(/^[0-9a-f]{16}$/);
          expect(span["startTimeUnixNano"]).toMatch(/^\d+$/);
          const [start, end] = [span["startTimeUnixNano"] as string, span["endTimeUnixNano"] as string];
          expect(BigInt(end)).toBeGreaterThanOrEqual(BigInt(start));
          expect([1, 2, 3]).toContain(span["kind"]);
        }
      }),
    );
  });

  it("has a service for each role", () => {
    const { resourceSpans } = toOtlpTraces(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE])) as {
      resourceSpans: { resource: unknown }[];
    };
    expect(resourceSpans.map(({ resource }) => resource)).toEqual(
      ["controller", "planner", "solver"].map((role) => ({
        attributes: [{ key: "service.name", value: { stringValue: role } }],
      })),
    );
    expect(
      listOtlpSpans(toOtlpTraces(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE])))[0],
    ).toMatchObject({
      startTimeUnixNano: `${SCRIPTED_RUN_START_MS}000000`,
      endTimeUnixNano: `${SCRIPTED_RUN_START_MS + 3056}000000`,
    });
  });
});

interface TraceEvent {
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur: number;
  readonly id: number;
  readonly name: string;
}

function listTraceEvents(trace: JsonObject): TraceEvent[] {
  return trace["traceEvents"] as unknown as TraceEvent[];
}

describe("the trace for Perfetto", () => {
  it("has a process for each role, a slice for each piece of work, and an arrow for each card", () => {
    const events = listTraceEvents(
      toPerfettoTrace(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE])),
    );
    expect(events.filter(({ name }) => name === "process_name")).toHaveLength(3);
    expect(
      events.filter(({ ph, pid }) => ph === "X" && pid === 2).map(({ name, ts, dur }) => [name, ts, dur]),
    ).toEqual([
      ["Janet's ducks lay 16 eggs per day...", 1_000, 3_054_000],
      ["plan turn 1", 1_000, 820_000],
      ["chat scripted", 1_000, 820_000],
      ["plan turn 2", 1_293_000, 720_000],
      ["chat scripted", 1_293_000, 720_000],
      ["result turn 3", 2_445_000, 610_000],
      ["chat scripted", 2_445_000, 610_000],
    ]);
    expect(events.filter(({ ph }) => ph === "s")).toHaveLength(6);
    expect(events.filter(({ ph }) => ph === "f")).toHaveLength(6);
  });

  it("has separate threads for parallel tasks", () => {
    const names = listTraceEvents(
      toPerfettoTrace(createScriptedRecording([SCRIPTED_PARALLEL_TASKS_SAMPLE])),
    ).filter(({ name }) => name === "thread_name");
    expect(names.map((event) => (event as unknown as { args: { name: string } }).args.name)).toEqual([
      "controller",
      "planner",
      "solver 1",
      "solver 2",
      "solver 3",
    ]);
  });

  it("attaches cards after a reply to the end of the work", () => {
    const cardOf = (
      recipient: string,
      message_type: string,
      metadata: JsonObject,
      ms: number,
    ): MessageCard => ({
      sender: "controller",
      recipient,
      message_type,
      content: "",
      metadata,
      timestamp: new Date(ms).toISOString(),
    });
    const task = cardOf("solver", "task", { card_id: "c" }, 0);
    const reply = cardOf("controller", "result", { in_reply_to: "c" }, 0);
    const late = cardOf("controller", "task", { in_reply_to: "c" }, 1);
    const events = listTraceEvents(toPerfettoTrace([task, reply, late]));
    const slices = events.filter(({ ph }) => ph === "X");
    for (const { pid, tid, ts } of events.filter(({ ph }) => ph === "s" || ph === "f"))
      expect(
        slices.some((one) => one.pid === pid && one.tid === tid && one.ts <= ts && ts <= one.ts + one.dur),
      ).toBe(true);
  });

  it("has nested slices on every thread and arrows that start and end in slices, for arbitrary cards", () => {
    const runs = fc.oneof(
      arbitraryRecording,
      fc.constantFrom(
        createScriptedRecording(SCRIPTED_GSM8K_SAMPLES),
        createScriptedRecording(createScriptedSamples(20)),
        createScriptedRecording(SCRIPTED_GSM8K_SAMPLES, { roles: ["planner"] }),
      ),
    );
    fc.assert(
      fc.property(runs, (run) => {
        const events = listTraceEvents(toPerfettoTrace(run));
        const slices = events.filter(({ ph }) => ph === "X");
        for (const thread of Map.groupBy(slices, ({ pid, tid }) => `${pid} ${tid}`).values()) {
          const open: number[] = [];
          // Of slices with the same start, the longer one contains the shorter one. They are already in this
          // order.
          for (const { ts, dur } of thread.toSorted((a, b) => a.ts - b.ts || b.dur - a.dur)) {
            while (open.length > 0 && (open.at(-1) ?? 0) <= ts) open.pop();
            if (open.length > 0) expect(ts + dur).toBeLessThanOrEqual(open.at(-1) ?? 0);
            open.push(ts + dur);
          }
        }
        for (const { ph, pid, tid, ts } of events.filter(({ ph }) => ph === "s" || ph === "f")) {
          const around = slices.some(
            (slice) => slice.pid === pid && slice.tid === tid && slice.ts <= ts && ts <= slice.ts + slice.dur,
          );
          expect([ph, around]).toEqual([ph, true]);
        }
      }),
    );
  });
});

describe("the trace for the Traceability extension", () => {
  it("has a step for each task, which contains the steps of its worker", () => {
    const [trace] = toTraceabilityTraces(createScriptedRecording([SCRIPTED_SEQUENTIAL_TASKS_SAMPLE]));
    expect(trace?.steps).toHaveLength(1);
    const [step] = trace?.steps ?? [];
    expect(step).toMatchObject({
      call_type: "AGENT",
      trace_id: trace?.trace_id,
      total_tokens: 213 + 261 + 284,
      latency: 3056,
      start_time: new Date(SCRIPTED_RUN_START_MS).toISOString(),
      additional_attributes: { caller: "controller", sample_id: "gsm8k_0", reply: "18", status: "completed" },
    });
    const { agent_name, response_trace } = step?.step_action.agent_invocation ?? {};
    expect(agent_name).toBe("planner");
    expect(
      response_trace?.steps.map((inner) => [
        inner.step_action.agent_invocation.requests.content,
        inner.additional_attributes["reply"],
        inner.parent_step_id,
        inner.total_tokens,
      ]),
    ).toEqual([
      ["Calculate 16 eggs - 3 eaten - 4 muffins", "9", step?.step_id, 98],
      ["Calculate daily income: 9 eggs * $2", "$18", step?.step_id, 101],
    ]);
  });

  it("accepts plain cards and has only string attributes", () => {
    expect(toTraceabilityTraces(createGsm8kExampleCards()).flatMap(({ steps }) => steps)).toHaveLength(1);
    fc.assert(
      fc.property(arbitraryCards, (cards) => {
        for (const { steps } of toTraceabilityTraces(cards)) {
          for (const { additional_attributes } of steps)
            expect(Object.values(additional_attributes).every((value) => typeof value === "string")).toBe(
              true,
            );
        }
      }),
    );
  });
});

const SOLVER_SPAN_TREE = [
  "invoke_agent solver (client, planner)",
  [
    [
      "SendStreamingMessage (client, planner)",
      [
        [
          "SendStreamingMessage (server, solver)",
          [["invoke_agent solver (internal, solver)", ["chat scripted (client, solver)"]]],
        ],
      ],
    ],
  ],
];
const PLAN_SPAN_TREE = ["plan planner (internal, planner)", ["chat scripted (client, planner)"]];
const EXPECTED_SPAN_TREE = [
  [
    "invoke_workflow a2a (internal, controller)",
    [
      [
        "invoke_agent planner (client, controller)",
        [
          [
            "SendStreamingMessage (client, controller)",
            [
              [
                "SendStreamingMessage (server, planner)",
                [
                  [
                    "invoke_agent planner (internal, planner)",
                    [
                      PLAN_SPAN_TREE,
                      SOLVER_SPAN_TREE,
                      PLAN_SPAN_TREE,
                      SOLVER_SPAN_TREE,
                      "chat scripted (client, planner)",
                    ],
                  ],
                ],
              ],
            ],
          ],
        ],
      ],
    ],
  ],
];
