import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it } from "vitest";
import { agent } from "../../agents/adapters/index.ts";
import { connect } from "../../client/index.ts";
import { createServer } from "../../server/index.ts";
import type { CliContext } from "../cli-context.ts";
import { loadTrafficRecord } from "./load-traffic-record.ts";
import { runCliInTestProcess } from "../cli-test-process.fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "trace-"));
const serverFile = join(folder, "server.jsonl");
const clientFile = join(folder, "client.jsonl");
let taskId: string;

const solver = agent({ name: "solver", description: "Solves" }, async function* ({ text }) {
  yield `${text} = 42`;
});

beforeAll(async () => {
  const solverServer = createServer(solver, { store: "memory", observer: false, record: serverFile });
  const { url: solverUrl } = await solverServer.listen();
  // Nothing in the planner names the parent of the solver's task.
  const planner = agent({ name: "planner", description: "Plans" }, async function* ({ text }) {
    const client = await connect(solverUrl, { record: clientFile });
    yield (await client.ask(text)).text;
  });
  const plannerServer = createServer(planner, { store: "memory", observer: false, record: serverFile });
  const { url } = await plannerServer.listen();
  const { code, out, err } = await runCliInTestProcess([
    "send",
    url,
    "6 * 7",
    "--record",
    clientFile,
    "-o",
    "json",
  ]);
  if (code !== 0) throw new Error(err + out);
  taskId = (JSON.parse(out) as { task: { id: string } }).task.id;
  await plannerServer.close();
  await solverServer.close();
});

describe("colloquy trace", () => {
  it("shows the calls between agents from the records of two servers and two clients", async () => {
    const { code, out, err } = await runCliInTestProcess(["trace", "show", serverFile, clientFile]);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = out.split("\n");
    expect(lines[0]).toMatch(/^planner {2}\S+ {2}completed in \d/);
    expect(lines[1]).toMatch(/^ {2}solver {2}\S+ {2}completed in \d/);
    expect(out).toContain("client colloquy: ");
  });

  it("shows the timeline of a task, and finds the task by the beginning of its id", async () => {
    const { out } = await runCliInTestProcess([
      "trace",
      "show",
      serverFile,
      clientFile,
      "--task",
      taskId.slice(0, 30),
    ]);
    expect(out).toMatch(/client {2}request {5}SendStreamingMessage to planner/);
    expect(out).toMatch(/server {2}event {7}event \d: completed/);
    expect(out).toMatch(/ {2}agent of solver\n/);
    const { out: json } = await runCliInTestProcess([
      "trace",
      "show",
      serverFile,
      "--task",
      taskId,
      "--json",
    ]);
    const shown = JSON.parse(json) as {
      state: string;
      timeline: unknown[];
      artifacts: Record<string, string>;
    };
    expect(shown.state).toBe("TASK_STATE_COMPLETED");
    expect(Object.values(shown.artifacts)).toEqual(["6 * 7 = 42"]);
  });

  it("exports Mermaid, OTLP, Perfetto, and merged lines", async () => {
    const run = async (format: string): Promise<string> => {
      const { code, out } = await runCliInTestProcess([
        "trace",
        "export",
        serverFile,
        clientFile,
        "--format",
        format,
      ]);
      expect(code).toBe(0);
      return out;
    };
    const mermaid = await run("mermaid");
    expect(mermaid).toMatch(/^sequenceDiagram\n/);
    expect(mermaid).toMatch(/p1->>p2: SendStreamingMessage\n/);
    const otlp = JSON.parse(await run("otlp")) as {
      resourceSpans: {
        scopeSpans: { spans: { traceId: string; spanId: string; parentSpanId?: string; name: string }[] }[];
      }[];
    };
    const spans = otlp.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    expect(spans.filter(({ parentSpanId }) => parentSpanId === undefined).map(({ name }) => name)).toEqual([
      "invoke_agent planner",
    ]);
    expect(spans.every(({ parentSpanId }) => parentSpanId === undefined || ids.has(parentSpanId))).toBe(true);
    const { traceEvents } = JSON.parse(await run("perfetto")) as { traceEvents: { ph: string }[] };
    expect(traceEvents.filter(({ ph }) => ph === "M")).toHaveLength(2);
    const lines = (await run("jsonl")).trimEnd().split("\n").length;
    expect(lines).toBe(
      [serverFile, clientFile].flatMap((file) => readFileSync(file, "utf8").trimEnd().split("\n")).length,
    );
  });

  it("compares two tasks", async () => {
    const { code, out } = await runCliInTestProcess([
      "trace",
      "compare",
      serverFile,
      serverFile,
      "--first-task",
      taskId,
      "--second-task",
      taskId,
    ]);
    expect(code).toBe(0);
    expect(out).not.toContain("*");
    expect(out).toMatch(/\nmessages\n(?: {2}\d.* → .*: .*\n)+$/);
    const { err } = await runCliInTestProcess([
      "trace",
      "compare",
      serverFile,
      clientFile,
      "--first-task",
      "unknown",
    ]);
    expect(err).toContain("The record contains no task unknown.");
  });

  it("names the option that selects a task of a record with several root tasks", async () => {
    const several = join(folder, "several.jsonl");
    const lines = [1, 2].map((seq) => {
      const task_id = `task-${String(seq).padStart(16, "0")}`;
      const event = { statusUpdate: { status: { state: "TASK_STATE_COMPLETED" } } };
      const line = { v: 1, writer: "w", seq, at: "2026-01-01T00:00:00.000Z", mono_ms: seq };
      return `${JSON.stringify({ ...line, kind: "event", agent: "solver", task_id, log_seq: 1, event })}\n`;
    });
    writeFileSync(several, lines.join(""));
    const compare = async (...words: string[]): Promise<string> =>
      (await runCliInTestProcess(["trace", "compare", several, several, ...words])).err;
    expect(await compare()).toContain("The record contains 2 tasks without a parent.");
    expect(await compare()).toContain("Pass --first-task with the id of one task: task-0");
    const withFirst = await compare("--first-task", "task-0000000000000001");
    expect(withFirst).toContain("Pass --second-task with the id of one task: task-0");
  });

  it("aligns the messages of two tasks", async () => {
    const { out: overview } = await runCliInTestProcess(["trace", "show", serverFile, clientFile]);
    const solverTaskId = / solver {2}(\S+)/.exec(overview)?.[1] ?? "";
    const tasks = ["--first-task", taskId, "--second-task", solverTaskId];
    const { out } = await runCliInTestProcess(["trace", "compare", serverFile, serverFile, ...tasks]);
    expect(out).toMatch(/^\* agent +planner +solver$/m);
    expect(out).toMatch(/^- .* → planner: SendStreamingMessage$/m);
    const { out: jsonText } = await runCliInTestProcess([
      "trace",
      "compare",
      serverFile,
      serverFile,
      ...tasks,
      "--json",
    ]);
    const { second, messages } = JSON.parse(jsonText) as {
      second: { id: string };
      messages: { first?: { to: string; afterMs: number }; isEqual: boolean }[];
    };
    expect(second.id).toBe(solverTaskId);
    expect(messages).toContainEqual({
      first: expect.objectContaining({ to: "planner", label: "SendStreamingMessage" }) as unknown,
      isEqual: false,
    });
  });

  it("explains files that are no records", async () => {
    const missing = await runCliInTestProcess(["trace", "show", join(folder, "missing.jsonl")]);
    expect(missing.err).toContain("cannot be read (ENOENT");
    const other = await runCliInTestProcess(["trace", "show", "package.json"]);
    expect(other.err).toContain("contains no traffic lines");
  });

  it("skips damaged lines with a warning for each of the first ten, and reads the rest", async () => {
    const damaged = join(folder, "damaged.jsonl");
    const text = readFileSync(serverFile, "utf8");
    writeFileSync(damaged, `${'{"v":1,"kind":"frame","seq":"no"}\n'.repeat(30)}${text}{"v":1,"kind":"req`);
    const { code, out, err } = await runCliInTestProcess(["trace", "show", damaged]);
    expect(code).toBe(0);
    expect(out).toBe((await runCliInTestProcess(["trace", "show", serverFile])).out);
    const warnings = err.trimEnd().split("\n");
    expect(warnings).toHaveLength(11);
    expect(warnings[0]).toMatch(
      /^warning: .*damaged\.jsonl:1 is skipped: frame line: .* Correct or delete the line\.$/,
    );
    expect(warnings[10]).toBe("warning: 21 more lines are skipped");
  });

  it("reads the undamaged part of a compressed record", async () => {
    const compressed = gzipSync(readFileSync(serverFile));
    const whole = join(folder, "whole.jsonl.gz");
    writeFileSync(whole, compressed);
    expect((await runCliInTestProcess(["trace", "show", whole])).err).toBe("");
    const torn = join(folder, "torn.jsonl.gz");
    writeFileSync(torn, compressed.subarray(0, -20));
    const { code, err } = await runCliInTestProcess(["trace", "show", torn]);
    expect(code).toBe(0);
    expect(err).toMatch(/the compressed file is damaged here: .*\. Copy the file again, /);
    const uncompressed = join(folder, "text.jsonl.gz");
    writeFileSync(uncompressed, readFileSync(serverFile));
    expect((await runCliInTestProcess(["trace", "show", uncompressed])).err).toContain(
      "text.jsonl.gz cannot be read (incorrect header check)",
    );
  });

  it("skips a line that is too long, without storing it", async () => {
    const long = join(folder, "long.jsonl");
    const text = readFileSync(serverFile, "utf8");
    const line = `{"v":1,"kind":"frame","text":"${"x".repeat(17 * 2 ** 20)}"}\n`;
    writeFileSync(long, `${line}${text}`);
    const { code, err } = await runCliInTestProcess(["trace", "show", long]);
    expect(code).toBe(0);
    expect(err).toMatch(
      /long\.jsonl:1 is skipped: the line has 178\d+ characters, more than 16777216\. Delete the line\.\n$/,
    );
  });

  it("refuses a record that does not fit into memory", async () => {
    const streams = { err: () => {} } as unknown as CliContext["streams"];
    await expect(loadTrafficRecord([serverFile], { streams }, undefined, 1_000)).rejects.toThrow(
      /^The record is too long: .*server\.jsonl:\d exceeds 1000 characters in all files\.$/,
    );
  });

  it("shows tasks that call each other in a circle, and chains of any length", async () => {
    const hostile = join(folder, "hostile.jsonl");
    let seq = 0;
    const write = (line: object): string =>
      `${JSON.stringify({ v: 1, writer: "w", seq: ++seq, at: "2026-01-01T00:00:00.000Z", mono_ms: seq, ...line })}\n`;
    const createTaskId = (at: number): string => `task-${String(at).padStart(16, "0")}`;
    const start = (at: number, parent: number): string =>
      write({
        kind: "request",
        call: `c${at}`,
        to: "solver\u001B[2J",
        task_id: createTaskId(at),
        binding: "JSONRPC",
        operation: "SendMessage",
        parent: { task_id: createTaskId(parent) },
      });
    const circle = start(1, 2) + start(2, 1);
    const chain = Array.from({ length: 5_000 }, (_, at) => start(at + 4, at + 3)).join("");
    writeFileSync(hostile, circle + start(3, 3) + chain);
    const { code, out } = await runCliInTestProcess(["trace", "show", hostile]);
    expect(code).toBe(0);
    for (const at of [1, 2, 3, 5_003]) expect(out).toContain(createTaskId(at));
    expect(out).not.toContain("\u001B");
    for (const format of ["otlp", "perfetto", "mermaid"])
      expect((await runCliInTestProcess(["trace", "export", hostile, "--format", format])).code).toBe(0);
    const path = ["trace", "show", hostile, "--task", createTaskId(3), "--json"];
    expect((await runCliInTestProcess(path)).code).toBe(0);
  });

  it("writes an export to stdout with --out -", async () => {
    const words = ["trace", "export", serverFile, "--format", "jsonl"];
    const { code, out } = await runCliInTestProcess([...words, "--out", "-"]);
    expect({ code, out }).toEqual({ code: 0, out: (await runCliInTestProcess(words)).out });
    expect(existsSync("-")).toBe(false);
  });

  it("renders a page of one task and of the tasks that its agent started", async () => {
    const target = join(folder, "task.html");
    const words = ["trace", "html", serverFile, clientFile, "-o", target, "--task"];
    expect((await runCliInTestProcess([...words, taskId])).code).toBe(0);
    const html = readFileSync(target, "utf8");
    expect(html).toContain(taskId);
    expect(html).toContain(`"to":"solver"`);
    expect((await runCliInTestProcess([...words, "nobody"])).err).toContain("contains no task nobody");
  });

  it("renders the record as one HTML file", async () => {
    const target = join(folder, "flow.html");
    const { code, out } = await runCliInTestProcess(["trace", "html", serverFile, clientFile, "-o", target]);
    expect({ code, out }).toEqual({ code: 0, out: `${target}\n` });
    const html = readFileSync(target, "utf8");
    expect(html).toContain("<title>server.jsonl</title>");
    expect(html).toContain(taskId);
    const stdout = await runCliInTestProcess(["trace", "html", serverFile, clientFile, "-o", "-"]);
    expect(stdout.out).toBe(html);
    const missing = await runCliInTestProcess(["trace", "html", join(folder, "missing.jsonl")]);
    expect(missing).toMatchObject({ code: 2, out: "" });
  });
});
