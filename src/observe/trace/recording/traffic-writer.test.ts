import {
  assert,
  asyncProperty,
  integer,
  jsonValue,
  array,
  constantFrom,
  record as objectOf,
} from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../../protocol/index.ts";
import { decodeTrafficLine, decodeTrafficLines, TrafficModel, type TrafficLine } from "../index.ts";
import type { TrafficLineInput } from "../traffic-line-types.ts";
import {
  createMemoryTrafficSink,
  createTrafficWriter,
  type TrafficSink,
  type TrafficWriterOptions,
} from "./index.ts";

const OPTIONS: TrafficWriterOptions = {
  vantage: "server",
  name: "test",
  now: () => 1_000,
  monotonicNow: () => 5.1239,
};

async function writeAndRead(
  options: Partial<TrafficWriterOptions>,
  write: (writer: ReturnType<typeof createTrafficWriter>) => void,
): Promise<TrafficLine[]> {
  const sink = createMemoryTrafficSink();
  const writer = createTrafficWriter(sink, { ...OPTIONS, ...options });
  write(writer);
  await writer.close();
  return decodeTrafficLines(sink.text());
}

describe("a traffic writer [E22]", () => {
  it("begins with the writer line, and numbers its lines", async () => {
    const lines = await writeAndRead({}, (writer) => {
      writer.write({ kind: "turn", task_id: "t1", phase: "begin" });
      writer.write({ kind: "event", task_id: "t1", log_seq: 1 }, { event: '{"task":{"id":"t1"}}' });
    });
    expect(lines).toMatchObject([
      { v: 1, kind: "writer", seq: 1, at: "1970-01-01T00:00:01.000Z", mono_ms: 5.124, vantage: "server" },
      { kind: "turn", seq: 2, phase: "begin" },
      { kind: "event", seq: 3, log_seq: 1, event: { task: { id: "t1" } } },
    ]);
    expect(new Set(lines.map(({ writer }) => writer)).size).toBe(1);
  });

  it("writes the time at which a line happened", async () => {
    const [, line] = await writeAndRead({}, (writer) =>
      writer.write({ kind: "turn", task_id: "t1", phase: "begin" }, undefined, 100),
    );
    expect(line).toMatchObject({ at: "1970-01-01T00:00:00.900Z", mono_ms: -94.876 });
  });

  it("writes the same line, whether or not a member needs treatment", async () => {
    const line = { kind: "event", agent: 'a"b', task_id: "t1", log_seq: 1 } as const;
    const lines = await writeAndRead({}, (writer) => {
      writer.write(line, { event: '{"task":{"id":"t1"}}' });
      writer.write({ ...line, headers: undefined } as TrafficLineInput, { event: '{"task":{"id":"t1"}}' });
    });
    const [, plain, treated] = lines.map((one) => JSON.stringify({ ...one, seq: 0 }));
    expect(plain).toBe(treated);
    expect(plain).toContain('"event":{"task":{"id":"t1"}}');
  });

  it("keeps ids and states but no content in a record without bodies", async () => {
    const event = {
      statusUpdate: {
        taskId: "t1",
        status: { state: "TASK_STATE_WORKING", message: { parts: [{ text: "secret plan" }] } },
      },
    };
    const lines = await writeAndRead({ bodies: false }, (writer) => {
      writer.write({ kind: "event", task_id: "t1", log_seq: 1 }, { event: JSON.stringify(event) });
      writer.write({
        kind: "model",
        call: "c1",
        model: "m",
        prompt: "secret plan",
        reply: "secret plan",
        duration_ms: 1,
      });
      writer.write({
        kind: "tool",
        call: "c2",
        tool: "t",
        arguments: { plan: "secret plan" },
        duration_ms: 1,
      });
    });
    expect(JSON.stringify(lines)).not.toContain("secret plan");
    expect(lines[1]).toMatchObject({
      event: { statusUpdate: { taskId: "t1", status: { state: "TASK_STATE_WORKING" } } },
    });
  });

  it("replaces a body that is too long by its beginning, and keeps the state of an event", async () => {
    const long = "x".repeat(2_000);
    const event = {
      statusUpdate: {
        taskId: "t1",
        status: { state: "TASK_STATE_WORKING", message: { parts: [{ text: long }] } },
      },
    };
    const [, request, logged] = await writeAndRead({ maxBodyLength: 1_500 }, (writer) => {
      writer.write({
        kind: "request",
        call: "c1",
        to: "a",
        binding: "HTTP",
        operation: "POST",
        body: { text: long },
      });
      writer.write({ kind: "event", task_id: "t1", log_seq: 1 }, { event: JSON.stringify(event) });
    });
    expect(request).toMatchObject({ body: { "colloquy:truncated": { length: 2_011 } } });
    expect(logged).toMatchObject({ event: { statusUpdate: { status: { state: "TASK_STATE_WORKING" } } } });
    expect(JSON.stringify(logged).length).toBeLessThan(1_600);
  });

  it("hides a secret that a shortened body would cut", async () => {
    const text = `${"x".repeat(960)} eyJ${"a".repeat(20)}.${"b".repeat(60)}.${"c".repeat(20)}`;
    const [, line] = await writeAndRead({ maxBodyLength: 1_010 }, (writer) =>
      writer.write({
        kind: "request",
        call: "c1",
        to: "a",
        binding: "HTTP",
        operation: "POST",
        body: { text },
      }),
    );
    expect(line).toHaveProperty("body.colloquy:truncated.length", 1_077);
    expect(JSON.stringify(line)).not.toContain("eyJ");
    expect(JSON.stringify(line)).toContain("x ***");
  });

  it("learns the API keys of agents from their cards", async () => {
    const card = { securitySchemes: { key: { apiKeySecurityScheme: { location: "query", name: "k" } } } };
    const [, , line] = await writeAndRead({ secrets: ["a known secret"] }, (writer) => {
      writer.write({ kind: "agent", agent: "a", url: "http://a.example", card });
      writer.write({
        kind: "request",
        call: "c1",
        to: "a",
        binding: "HTTP",
        operation: "GET",
        url: "http://a.example/?k=blue&b=a+known+secret",
      });
    });
    expect(line).toHaveProperty("url", "http://a.example/?k=***&b=***");
  });

  it("removes credentials from headers and bodies", async () => {
    const [, line] = await writeAndRead({}, (writer) =>
      writer.write({
        kind: "request",
        call: "c1",
        to: "a",
        binding: "JSONRPC",
        operation: "SendMessage",
        headers: {
          authorization: "Bearer abcdefgh12345678",
          cookie: "a=b",
          "x-api-key": "k1",
          accept: "*/*",
        },
        body: { params: { token: "hunter2", text: 'call {"password":"swordfish"} with sk-abcdefgh1234' } },
        url: "https://ada:lovelace@example.com/?api_key=abc&x=1",
      }),
    );
    expect(line).toMatchObject({
      headers: { authorization: "***", cookie: "***", "x-api-key": "***", accept: "*/*" },
      body: { params: { token: "***", text: 'call {"password":"***"} with ***' } },
      url: "https://***@example.com/?api_key=***&x=1",
    });
  });

  it("writes lines that can be decoded, whatever the bodies contain", async () => {
    const names = constantFrom("token", "password", "api_key", "text", 'a"b', "authorization", "url");
    const texts = constantFrom(
      '"token":"x"',
      "Bearer abcdefghijk1",
      'a "quoted\\" ',
      "http://u:p@h/",
      '\\"secret\\":\\"',
      "sk-aaaaaaaaaaaa",
      "\u2028\n",
    );
    await assert(
      asyncProperty(
        array(objectOf({ name: names, text: texts, otherText: texts, json: jsonValue() })),
        async (members) => {
          const body = Object.fromEntries(
            members.map(({ name, text, otherText, json }, at) => [
              `${name}${at % 2 === 0 ? "" : at}`,
              at % 3 === 0 ? (json as JsonValue) : text + otherText,
            ]),
          ) as JsonValue;
          const sink = createMemoryTrafficSink();
          const writer = createTrafficWriter(sink, OPTIONS);
          writer.write({ kind: "request", call: "c1", to: "a", binding: "HTTP", operation: "POST", body });
          await writer.close();
          const decoded = sink.text().trimEnd().split("\n").map(decodeTrafficLine);
          expect(decoded.map(({ type }) => type)).toEqual(["traffic", "traffic"]);
        },
      ),
    );
  });

  it("drops lines and says so if the sink is slower than the traffic, and never holds more than its limit", async () => {
    await assert(
      asyncProperty(array(integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 20 }), async (bursts) => {
        const written: string[] = [];
        let resolveWrite: (() => void) | undefined;
        const sink: TrafficSink = {
          write: (text) =>
            new Promise<void>((resolve) => {
              written.push(text);
              resolveWrite = resolve;
            }),
          close: () => {},
        };
        const losses: unknown[] = [];
        const writer = createTrafficWriter(sink, {
          ...OPTIONS,
          maxQueuedLength: 2_000,
          onLoss: (cause) => losses.push(cause),
        });
        let count = 0;
        for (const burst of bursts) {
          for (let at = 0; at < burst; at++, count++)
            writer.write({ kind: "turn", task_id: `t${count}`, phase: "begin" });
          await Promise.resolve();
          resolveWrite?.();
          await Promise.resolve();
        }
        const closed = writer.close();
        // Each write takes a few microtasks, and the limit allows fewer writes.
        for (let at = 0; at < 200; at++) {
          resolveWrite?.();
          await Promise.resolve();
        }
        await closed;
        expect(written.every((text) => text.length < 2_400)).toBe(true);
        const lines = decodeTrafficLines(written.join(""));
        const lost = lines.reduce((sum, line) => sum + (line.kind === "loss" ? line.lines : 0), 0);
        expect(lines.filter(({ kind }) => kind === "turn").length + lost).toBe(count);
        expect(losses.length).toBe(lost > 0 ? 1 : 0);
      }),
    );
  });

  it("counts the lines of a failing sink as lost, and continues when the sink works again", async () => {
    const sink = createMemoryTrafficSink();
    let isFailing = true;
    const writer = createTrafficWriter(
      {
        ...sink,
        write: (text, header) =>
          isFailing ? Promise.reject(new Error("disk full")) : sink.write(text, header),
      },
      OPTIONS,
    );
    writer.write({ kind: "turn", task_id: "t1", phase: "begin" });
    await writer.flush();
    isFailing = false;
    writer.write({ kind: "turn", task_id: "t1", phase: "end" });
    await writer.close();
    const lines = decodeTrafficLines(sink.text());
    expect(lines).toMatchObject([
      { kind: "writer" },
      { kind: "turn", phase: "end" },
      { kind: "loss", lines: 1 },
    ]);
    const model = new TrafficModel();
    for (const line of lines) model.add(line);
    expect([...model.writers.values()]).toMatchObject([{ lostLines: 1 }]);
  });

  it("never throws, also for values without JSON", async () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    const lines = await writeAndRead({}, (writer) => {
      writer.write({ kind: "tool", call: "c1", tool: "t", duration_ms: 1, arguments: circular as JsonValue });
      writer.write({ kind: "turn", task_id: "t1", phase: "begin" });
    });
    expect(lines.map(({ kind }) => kind)).toEqual(["writer", "turn", "loss"]);
  });

  it("writes each line at once to a synchronous sink, and returns whether the sink has the line", () => {
    const sink = createMemoryTrafficSink();
    let isFull = false;
    const causes: unknown[] = [];
    const writer = createTrafficWriter(
      {
        isSynchronous: true,
        write: (lines, header) => {
          if (isFull) throw new Error("no space left on device");
          void sink.write(lines, header);
        },
        close: () => {},
      },
      { ...OPTIONS, onLoss: (cause) => causes.push(cause) },
    );
    const write = (task_id: string): boolean => writer.write({ kind: "turn", task_id, phase: "begin" });
    expect(write("t1")).toBe(true);
    expect(decodeTrafficLines(sink.text()).map(({ kind }) => kind)).toEqual(["writer", "turn"]);
    isFull = true;
    expect([write("t2"), write("t3")]).toEqual([false, false]);
    isFull = false;
    expect(write("t4")).toBe(true);
    expect(decodeTrafficLines(sink.text()).slice(2)).toMatchObject([
      { kind: "loss", lines: 2, reason: "the sink could not store lines" },
      { kind: "turn", task_id: "t4" },
    ]);
    expect(causes).toMatchObject([{ message: "no space left on device" }]);
  });

  it("passes each line without secrets to its listeners", async () => {
    const sink = createMemoryTrafficSink();
    const writer = createTrafficWriter(sink, OPTIONS);
    const seen: string[] = [];
    const stop = writer.subscribe((text) => {
      seen.push(text);
      throw new Error("a broken listener");
    });
    writer.write({ kind: "turn", task_id: "t1", phase: "end", error: "Bearer abcdefgh12345678 expired" });
    stop();
    writer.write({ kind: "turn", task_id: "t2", phase: "end" });
    await writer.close();
    expect(seen.map((text) => (JSON.parse(text) as { error: string }).error)).toEqual(["Bearer *** expired"]);
    expect(decodeTrafficLines(sink.text())).toHaveLength(3);
  });
});
