import { setTimeout as delay } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { agent } from "../../agents/adapters/index.ts";
import { connect } from "../../client/index.ts";
import type { Agent } from "../../engine/index.ts";
import {
  computeTaskCriticalPath,
  decodeTrafficLines,
  summarizeCriticalPath,
  TrafficModel,
} from "../../observe/trace/index.ts";
import { createMemoryTrafficSink, createTrafficWriter } from "../../observe/trace/recording/index.ts";
import { createServer, type ServerOptions } from "../index.ts";

/** Long enough that each agent's work is on the critical path, whose times are milliseconds. */
const WORK_MS = 20;

async function serve(agents: Readonly<Record<string, Agent>>, options: ServerOptions = {}): Promise<string> {
  const server = createServer(agents, { store: "memory", observer: false, ...options });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return (await server.listen()).url;
}

it("records the calls that an agent makes with a plain connect, with the task that made them [E26]", async () => {
  const sink = createMemoryTrafficSink();
  const record = createTrafficWriter(sink, { vantage: "server", name: "test" });
  // The server of another vendor has no record, and does not know the extension for parent tasks.
  const pricer = await serve({
    pricer: agent({ name: "pricer", description: "Prices" }, async function* () {
      await delay(WORK_MS);
      yield "5";
    }),
  });
  const shared = await connect(pricer);
  const planner = agent({ name: "planner", description: "Plans" }, async function* () {
    const critic = await connect(`${url}/a2a/critic`);
    const answers = [await critic.ask("Is it good?"), await shared.ask("How much?")];
    yield answers.map(({ text }) => text).join(" ");
  });
  const critic = agent({ name: "critic", description: "Judges" }, async function* () {
    await delay(WORK_MS);
    yield "Good.";
  });
  const url = await serve({ planner, critic }, { record });
  const { task } = await (await connect(`${url}/a2a/planner`)).ask("Plan");
  await shared.ask("Outside of a turn");
  await record.flush();

  const model = new TrafficModel();
  for (const line of decodeTrafficLines(sink.text())) model.add(line);
  const plan = model.findTask(task?.id ?? "");
  expect(
    model.listExchangesDuring(plan?.key ?? "").map(({ from, to, operation, calls }) => ({
      hop: `${from} -> ${to}`,
      operation,
      seenBy: calls.map(({ vantage }) => vantage),
    })),
  ).toEqual([
    { hop: "planner -> critic", operation: "SendStreamingMessage", seenBy: ["client", "server"] },
    { hop: "planner -> pricer", operation: "SendStreamingMessage", seenBy: ["client"] },
  ]);
  expect(model.exchanges).toHaveLength(3);
  if (!plan) throw new Error("The record lacks the task of the planner.");
  const path = summarizeCriticalPath(computeTaskCriticalPath(model, plan));
  // On a busy machine, a turn starts milliseconds after its task.
  const names = path.filter(({ kind }) => kind !== "queue").map(({ kind, name }) => `${kind} ${name}`);
  // Whether the path contains other steps depends on milliseconds.
  expect(names).toEqual(expect.arrayContaining(["own critic", "agent pricer"]));
  const known = ["own critic", "agent pricer", "agent critic", "own planner"];
  expect(known).toEqual(expect.arrayContaining(names));
});
