/**
 * Checks that one trace connects an agent in TypeScript, an agent in Python that it calls, an agent in Go that the Python
 * agent calls, and an MCP tool. The agents in Python and Go use their official SDKs, and the instrumentation of
 * OpenTelemetry for their HTTP libraries. No agent has code for traces. Prints the tree of the spans that a collector
 * receives, and fails if a span is missing or has an unknown parent.
 *
 * `npm run lab -- one-trace` needs no arguments. `npm run lab -- one-trace --help` states what the script needs.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildGoProgram, installPythonPackages } from "../interop/install-programs.ts";
import { agent, connect, createServer } from "../../src/entries/colloquy.ts";
import { createMcpToolClient } from "../../src/entries/mcp.ts";
import { type ReceivedSpan, startOtlpReceiver } from "../../test/telemetry/otlp-receiver.ts";

const USAGE = `npm run lab -- one-trace [-- options]

Checks one trace over agents in TypeScript, Python, and Go, and an MCP tool in Python.

Needs Python 3.10 or newer with venv, Go 1.26 or newer, and access to PyPI and a Go proxy. The first run installs the
packages and builds the Go agent (minutes), and further runs use both again. The script needs no collector: it receives
the spans itself.

  --python PROGRAM  a Python with the packages of lab/one-trace/python/requirements.txt, instead of python3
  --go PROGRAM      the built program of lab/one-trace/go, instead of a build
  --help            print this text`;

const { values } = parseArgs({
  options: { python: { type: "string" }, go: { type: "string" }, help: { type: "boolean", default: false } },
});
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
const folder = fileURLToPath(new URL(".", import.meta.url));
const log = (line: string): void => console.error(line);

async function findPrograms(): Promise<{ readonly python: string; readonly go: string }> {
  const python = values.python
    ? { program: values.python }
    : await installPythonPackages("one-trace", join(folder, "python/requirements.txt"), log);
  const go = values.go ? { program: values.go } : await buildGoProgram("one-trace", join(folder, "go"), log);
  if ("program" in python && "program" in go) return { python: python.program, go: go.program };
  for (const [language, found] of Object.entries({ Python: python, Go: go }))
    if ("reason" in found) console.error(`The agent in ${language} cannot start: ${found.reason}.`);
  console.error(`\n${USAGE}`);
  return process.exit(2);
}

interface StartedProgram {
  readonly url: string;
  readonly process: ChildProcess;
}

/** Starts a program that prints its URL, with the collector in its environment. */
async function startProgram(
  service: string,
  collector: string,
  command: readonly string[],
): Promise<StartedProgram> {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    stdio: ["pipe", "pipe", "inherit"],
    env: {
      ...process.env,
      OTEL_SERVICE_NAME: service,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
      OTEL_METRICS_EXPORTER: "none",
      OTEL_LOGS_EXPORTER: "none",
    },
  });
  const lines = createInterface({ input: child.stdout });
  const failed = once(child, "exit").then(() => {
    throw new Error(`The program of ${service} ended before it printed its URL`);
  });
  const [line] = (await Promise.race([once(lines, "line"), failed])) as [string];
  failed.catch(() => {});
  return { url: (JSON.parse(line) as { url: string }).url, process: child };
}

async function stopProgram({ process: started }: StartedProgram): Promise<void> {
  started.stdin?.end();
  if (started.exitCode === null) await once(started, "exit");
}

/** Returns the span with its ancestors, or throws an error if a parent is missing. */
function listAncestors(span: ReceivedSpan, spansById: ReadonlyMap<string, ReceivedSpan>): ReceivedSpan[] {
  if (span.parentSpanId === "") return [span];
  const parent = spansById.get(span.parentSpanId);
  if (!parent) throw new Error(`${span.service} ${span.name} has the unknown parent ${span.parentSpanId}`);
  return [span, ...listAncestors(parent, spansById)];
}

/** Prints the spans as a tree, without the spans of functions inside of the Python SDK. */
function printTree(spans: readonly ReceivedSpan[], parentId = "", depth = 0): void {
  for (const span of spans.filter(({ parentSpanId }) => parentSpanId === parentId)) {
    const isShown = !span.scope.startsWith("a2a");
    if (isShown) console.log(`${"  ".repeat(depth)}${span.service}: ${span.name} (${span.kind})`);
    printTree(spans, span.spanId, isShown ? depth + 1 : depth);
  }
}

const programs = await findPrograms();
const receiver = await startOtlpReceiver();
const instrumented = [programs.python, join(dirname(programs.python), "opentelemetry-instrument")];
const inPython = (file: string, ...args: string[]): string[] => [
  ...instrumented,
  programs.python,
  join(folder, "python", file),
  ...args,
];
const go = await startProgram("go", receiver.url, [programs.go]);
const python = await startProgram("python", receiver.url, inPython("agent.py", go.url));
const toolServer = await startProgram("tool", receiver.url, inPython("tool_server.py"));
const tools = createMcpToolClient({ url: toolServer.url });

const first = agent({ name: "TypeScript", description: "Asks the others" }, async function* ({ text }) {
  const doubled = await tools.callTool("double", { number: 21 });
  const remote = await connect(python.url);
  yield `TypeScript: ${(await remote.ask(text)).text} and ${doubled.text}`;
});
const server = createServer(first, {
  store: "memory",
  telemetry: { otlp: receiver.url, serviceName: "typescript" },
});
const { url } = await server.listen();
// The caller is no part of the trace: a plain request without headers for traces.
const response = await fetch(url, {
  method: "POST",
  headers: { "content-type": "application/json", "a2a-version": "1.0" },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "SendMessage",
    params: { message: { messageId: "m-1", role: "ROLE_USER", parts: [{ text: "Hello" }] } },
  }),
});
const answer = JSON.stringify(await response.json());
if (!answer.includes("TypeScript: Python: Go: Hello and 42")) throw new Error(`The answer is ${answer}`);
await server.close();
await tools.close();
await Promise.all([go, python, toolServer].map(stopProgram));

const run = receiver.spans.find(({ name }) => name === "invoke_agent TypeScript");
if (!run) throw new Error("The collector did not receive the run of the agent in TypeScript");
const traced = receiver.spans.filter(({ traceId }) => traceId === run.traceId);
printTree(traced);
const spansById = new Map(traced.map((span) => [span.spanId, span]));
const failures: string[] = [];
for (const span of traced) listAncestors(span, spansById);
for (const [service, via] of [
  ["go", ["python", "typescript"]],
  ["python", ["typescript"]],
  ["tool", ["typescript"]],
] as const) {
  const served = traced.filter((span) => span.service === service && span.kind === "SERVER");
  if (served.length === 0) failures.push(`the trace has no server span of ${service}`);
  for (const span of served) {
    const services = new Set(listAncestors(span, spansById).map((ancestor) => ancestor.service));
    if (!via.every((name) => services.has(name)))
      failures.push(`${service} ${span.name} has the ancestors ${[...services].join(", ")}`);
  }
}
const roots = traced.filter(({ parentSpanId }) => parentSpanId === "");
if (roots.length !== 1) failures.push(`the trace has ${roots.length} roots`);
await receiver.close();
for (const failure of failures) console.error(`FAILED: ${failure}`);
console.log(
  `One trace with ${traced.length} spans of ${new Set(traced.map((span) => span.service)).size} services`,
);
process.exit(failures.length === 0 ? 0 : 1);
