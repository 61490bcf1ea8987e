import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { agent } from "../../adapters/index.ts";
import { connect } from "../../client/index.ts";
import { createServer } from "../../server/index.ts";
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
    const other = await runCliInTestProcess([
      "trace",
      "show",
      new URL("../../../package.json", import.meta.url).pathname,
    ]);
    expect(other.err).toContain("contains no traffic lines");
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
