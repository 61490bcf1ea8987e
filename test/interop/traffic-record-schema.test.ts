import { readFileSync } from "node:fs";
import * as fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { connect, createServer, type Agent, type JsonObject } from "../../src/entries/colloquy.ts";
import { decodeTrafficLineJson, type TrafficLineInput } from "../../src/observe/trace/index.ts";
import {
  createMemoryTrafficSink,
  createTrafficWriter,
  type TrafficWriter,
} from "../../src/observe/trace/recording/index.ts";
import { startTap } from "../../src/studio/tap/index.ts";
import { countRuns } from "../support/count-runs.ts";

interface JsonSchema {
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly const?: unknown;
  readonly $ref?: string;
}

const schemaJson = JSON.parse(
  readFileSync(new URL("../../docs/extensions/traffic-record-v1.schema.json", import.meta.url), "utf8"),
) as { readonly oneOf: readonly JsonSchema[]; readonly $defs: Readonly<Record<string, JsonSchema>> };
const schema = z.fromJSONSchema(schemaJson as never);
const isValidBySchema = (line: unknown): boolean => schema.safeParse(line).success;
const isDecoded = (line: unknown): boolean => decodeTrafficLineJson(line).type === "traffic";

const KINDS = schemaJson.oneOf.map(({ $ref = "" }) => $ref.replace("#/$defs/", ""));

const BASE = { v: 1, writer: "w", seq: 1, at: "2026-11-23T10:30:00.000Z", mono_ms: 1 };
/** The smallest valid line of each kind. */
const SMALLEST_LINES: Readonly<Record<string, JsonObject>> = {
  writer: { vantage: "tap", name: "n", code: "1", bodies: true },
  agent: { agent: "a", url: "http://a", card: {} },
  request: { call: "c1", to: "a", binding: "GRPC", operation: "GetTask" },
  response: { call: "c1", duration_ms: 1 },
  frame: { call: "c1", index: 1, bytes: 2 },
  "stream-end": { call: "c1", reason: "cut", frames: 1 },
  event: { task_id: "t", log_seq: 1 },
  turn: { task_id: "t", phase: "begin" },
  model: { call: "c1", model: "m", duration_ms: 1 },
  tool: { call: "c1", tool: "t", duration_ms: 1 },
  span: { name: "s", trace_id: "1", span_id: "2", start_ms: 1, end_ms: 2 },
  push: { task_id: "t", config_id: "w", outcome: "dead" },
  fault: { fault: "drop" },
  run: {
    run_id: "r",
    dataset: "d",
    sample_ids: ["s"],
    method: "a2a",
    model: { solver: "m" },
    evidence: "oracle",
    rule: "number",
    code: "1",
  },
  card: { card: {} },
  score: { run_id: "r", sample_id: "s", gold: "1", correct: true, rule: "number" },
  skip: { run_id: "r", sample_id: "s", error: "The provider answered 400" },
  end: { run_id: "r", status: "completed", cards: 1, samples: 1 },
  loss: { lines: 3, reason: "full" },
};

/** An agent that reports a call of a model and a call of a tool. */
const reporter: Agent = {
  describe: () => ({ name: "reporter", description: "Reports calls" }),
  async *execute({ reportCall }) {
    reportCall?.({
      kind: "model",
      provider: "openai",
      model: "m",
      prompt: "Hi",
      reply: ["Hello"],
      attempts: [{ error: "429", wait_ms: 5 }],
      inputTokens: 3,
      durationMs: 1.5,
    });
    reportCall?.({ kind: "tool", tool: "add", arguments: { a: 1 }, result: null, durationMs: 2 });
    yield { artifact: { artifactId: "a", parts: [{ text: "one" }] } };
    yield { artifact: { artifactId: "a", parts: [{ text: "two" }] }, append: true, lastChunk: true };
  },
};

/** Records one streamed task at the server, at a tap with a fault, and at the client. */
async function recordLines(): Promise<unknown[]> {
  const sink = createMemoryTrafficSink();
  const createWriter = (vantage: "server" | "tap" | "client"): TrafficWriter =>
    createTrafficWriter(sink, { vantage, name: vantage, code: "1.0.0" });
  const atServer = createWriter("server");
  const atTap = createWriter("tap");
  const atClient = createWriter("client");
  const server = createServer(reporter, { store: "memory", observer: false, record: atServer });
  const targets = [{ url: (await server.listen()).url }];
  const tap = await startTap({ targets, writer: atTap, faults: ["duplicate:frame=2"] });
  onTestFinished(async () => {
    await tap.close();
    await server.close({ graceMs: 0 });
  });
  const client = await connect(tap.targets[0]?.url ?? "", { record: atClient });
  for await (const event of client.stream("Go")) void event;
  const typed: TrafficLineInput[] = [
    { kind: "push", task_id: "t", config_id: "w", log_seq: 1, outcome: "failed", reason: "HTTP 500" },
    {
      kind: "span",
      name: "chat",
      trace_id: "1",
      span_id: "2",
      service: "s",
      start_ms: 1,
      end_ms: 2,
      attributes: {},
    },
  ];
  const ofRun = ["run", "card", "score", "skip", "end"].map(
    (kind) => ({ kind, ...SMALLEST_LINES[kind] }) as unknown as TrafficLineInput,
  );
  for (const line of [...typed, ...ofRun]) atTap.write(line);
  // Not JSON, so that the writer counts a lost line.
  atTap.write({ kind: "turn", task_id: "t", phase: "end", attempt: 1n } as never);
  await Promise.all([atServer.close(), atTap.close(), atClient.close()]);
  return sink
    .text()
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as unknown);
}

describe("the JSON Schema of traffic records", () => {
  it("describes the recorded lines of each kind", async () => {
    const lines = await recordLines();
    const kinds = new Set(lines.map((line) => (line as { kind: string }).kind));
    expect([...kinds].toSorted()).toEqual(KINDS.toSorted());
    expect(lines.filter((line) => !isDecoded(line))).toEqual([]);
    expect(lines.filter((line) => !isValidBySchema(line))).toEqual([]);
  });

  it.each(KINDS)("has the same required members as the decoder: %s", (kind) => {
    const line: JsonObject = { ...BASE, kind, ...SMALLEST_LINES[kind] };
    expect({ fits: isValidBySchema(line), decodes: isDecoded(line) }).toEqual({ fits: true, decodes: true });
    expect(Object.keys(line).toSorted()).toEqual(schemaJson.$defs[kind]?.required?.toSorted());
    for (const member of Object.keys(line)) {
      const { [member]: _removed, ...rest } = line;
      expect({ member, fits: isValidBySchema(rest), decodes: isDecoded(rest) }).toEqual({
        member,
        fits: false,
        decodes: false,
      });
    }
  });

  it("accepts the same values of each member as the decoder", () => {
    const member = fc.constantFrom(...KINDS).chain((kind) =>
      fc.record({
        kind: fc.constant(kind),
        name: fc.constantFrom(...Object.keys(schemaJson.$defs[kind]?.properties ?? {}), "later"),
      }),
    );
    const value = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(
        -1,
        0,
        1.5,
        2 ** 53,
        Number.POSITIVE_INFINITY,
        "",
        "USD",
        "usd",
        "cut",
        "begin",
        "HTTP",
        "dead",
        "drop",
        {},
        [],
        ["a"],
        [1],
      ),
      fc.constantFrom("2026-02-28T00:00:00Z", "2026-13-01T00:00:00Z", "2026-11-23", "2026-11-23T24:00:00Z"),
      fc.record({ task_id: fc.oneof(fc.string(), fc.integer()), agent: fc.constantFrom("a", 1, null) }),
      fc.array(fc.record({ error: fc.constantFrom("e", 1), wait_ms: fc.constantFrom(1, "1", -1) })),
      fc.dictionary(fc.string(), fc.constantFrom<unknown>("a", "b", 1)),
    );
    fc.assert(
      fc.property(member, value, ({ kind, name }, json) => {
        const line = { ...BASE, kind, ...SMALLEST_LINES[kind], [name]: json };
        expect(isValidBySchema(line)).toBe(isDecoded(line));
      }),
      { numRuns: countRuns(600, 6000) },
    );
  });
});
