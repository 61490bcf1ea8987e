/**
 * Runs one example of adk-docs, unchanged, in its own process: `node run-example.ts FILE`. It captures the
 * agents that the example exports or gives to a runner. Each agent then answers the same message twice: in a
 * bare ADK runner, and through `toA2a` and an A2A client. Prints the comparison as JSON.
 */
import {
  InMemoryRunner,
  isBaseAgent,
  LogLevel,
  type BaseAgent,
  type Event,
  Runner,
  setLogLevel,
  StreamingMode,
} from "@google/adk";
import { readFileSync } from "node:fs";
import { isBuiltin, registerHooks } from "node:module";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { transformSync } from "rolldown/utils";
import { toA2a } from "../../src/agents/adk/index.ts";
import { connect } from "../../src/client/index.ts";
import { fold, isEventRefusal, type Part, type Task } from "../../src/protocol/index.ts";
import { removeIds } from "./fake-gemini.ts";

/** What an agent says and calls, in order. */
interface Transcript {
  readonly text: string;
  readonly calls: unknown;
  readonly error?: string;
}

/** The comparison of one agent. */
export interface ExampleComparison {
  readonly agent: string;
  readonly equal: boolean;
  readonly bare: Transcript;
  readonly served: Transcript;
}

const [file = ""] = process.argv.slice(2);
const examplesUrl = pathToFileURL(file).href.replace(/\/examples\/typescript\/.*/, "/examples/");
const write = process.stdout.write.bind(process.stdout);
// The output of the examples is not part of the report.
process.stdout.write = () => true;
setLogLevel(LogLevel.ERROR);

// The examples are outside of this repository, so their packages are resolved from here.
registerHooks({
  resolve: (specifier, context, next) =>
    /^[./]|^file:|^node:/.test(specifier) || isBuiltin(specifier)
      ? next(specifier, context)
      : next(specifier, { ...context, parentURL: import.meta.url }),
  // The examples import types without `type`, which only a compiler can remove.
  load: (url, context, next) => {
    if (!url.startsWith(examplesUrl)) return next(url, context);
    const { code } = transformSync(url, readFileSync(new URL(url), "utf8"), { lang: "ts" });
    return { format: "module", source: code, shortCircuit: true };
  },
});

const agents = new Map<BaseAgent, string>();
const runAsyncDescriptor = Object.getOwnPropertyDescriptor(Runner.prototype, "runAsync") ?? {};
/** Replaces the run of an agent: records the agent and the message, and emits no event. */
function captureAgent(this: Runner, { newMessage }: Parameters<Runner["runAsync"]>[0]): readonly Event[] {
  const text = newMessage?.parts?.map((part) => part.text ?? "").join("") ?? "";
  if (isBaseAgent(this.agent) && !agents.has(this.agent)) agents.set(this.agent, text);
  return [];
}
Object.defineProperty(Runner.prototype, "runAsync", { value: captureAgent, configurable: true });

let importError: unknown;
try {
  const exported: Readonly<Record<string, unknown>> = (await import(
    pathToFileURL(file).href
  )) as object as Record<string, unknown>;
  for (const value of Object.values(exported))
    if (isBaseAgent(value) && !agents.has(value)) agents.set(value, "");
} catch (error) {
  importError = error;
}
// The examples start their `main` without a promise that others can await.
await setTimeout(1_500);
Object.defineProperty(Runner.prototype, "runAsync", runAsyncDescriptor);

const comparisons: ExampleComparison[] = [];
for (const [agent, captured] of agents) {
  const message = captured || "Please help me.";
  // Some tools return random numbers, which must be the same in both runs.
  Math.random = createSeededRandom();
  const bare = await runBare(agent, message);
  Math.random = createSeededRandom();
  const served = await runServed(agent, message);
  const equal =
    bare.error === undefined
      ? JSON.stringify(bare) === JSON.stringify(served)
      : served.error !== undefined && served.error.includes(bare.error);
  comparisons.push({ agent: agent.name, equal, bare, served });
}
const problem = importError instanceof Error ? importError.message : undefined;
write(`${JSON.stringify({ comparisons, problem })}\n`);
process.exit(0);

function createSeededRandom(): () => number {
  let state = 1;
  return () => (state = (state * 16_807) % 2_147_483_647) / 2_147_483_647;
}

async function runBare(agent: BaseAgent, text: string): Promise<Transcript> {
  const runner = new InMemoryRunner({ agent, appName: "docs" });
  const session = await runner.sessionService.createSession({ appName: "docs", userId: "u" });
  const events: Event[] = [];
  try {
    for await (const event of runner.runAsync({
      userId: "u",
      sessionId: session.id,
      newMessage: { role: "user", parts: [{ text }] },
      runConfig: { streamingMode: StreamingMode.SSE },
    })) {
      if (event.errorCode) return { text: "", calls: [], error: event.errorMessage ?? event.errorCode };
      if (!event.partial) events.push(event);
    }
  } catch (error) {
    return { text: "", calls: [], error: error instanceof Error ? error.message : String(error) };
  }
  const parts = events.flatMap((event) => event.content?.parts ?? []);
  return {
    text: parts.map((part) => (part.thought ? "" : (part.text ?? ""))).join(""),
    calls: removeIds(parts.flatMap((part) => part.functionCall ?? part.functionResponse ?? [])),
  };
}

function isThought({ metadata }: Part): boolean {
  return metadata?.["adk_thought"] === true;
}

async function runServed(agent: BaseAgent, text: string): Promise<Transcript> {
  const server = toA2a(agent, { store: "memory", exposeErrors: true });
  const { url } = await server.listen({ port: 0 });
  let task: Task | undefined;
  const parts: Part[] = [];
  try {
    for await (const event of (await connect(url)).stream(text)) {
      if ("task" in event) ({ task } = event);
      else if (task) {
        const next = fold(task, event);
        if (isEventRefusal(next)) throw new Error(next.refusalReason);
        task = next;
      }
    }
    for (const artifact of task?.artifacts ?? []) parts.push(...artifact.parts);
  } finally {
    await server.close({ graceMs: 0 });
  }
  const told = task?.status.message?.parts ?? [];
  if (task?.status.state === "TASK_STATE_FAILED")
    return { text: "", calls: [], error: told.map((part) => ("text" in part ? part.text : "")).join("") };
  const all = [...parts, ...told];
  return {
    text: all.map((part) => ("text" in part && !isThought(part) ? part.text : "")).join(""),
    calls: removeIds(all.flatMap((part) => ("data" in part ? [part.data] : []))),
  };
}
