import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { type A2AClient, collect, connect } from "../../../src/client/index.ts";
import { getText, isTerminal, type SendMessageResponse } from "../../../src/protocol/index.ts";
import type { ScenarioOutcome } from "../protocol-variants.ts";
import { runScenario } from "../scenarios.ts";

/** Runs our client, with its default options, against an agent of a framework that streams "one two three". */
export async function* runOurClientWithFramework(url: string): AsyncGenerator<ScenarioOutcome> {
  for (const [scenario, work] of Object.entries(SCENARIOS))
    yield await runScenario(scenario, () => work(url));
}

const SCENARIOS: Readonly<Record<string, (url: string) => Promise<void>>> = {
  async send(url) {
    assert.equal(getAnswer(await (await connectTo(url)).send("count")), "one two three");
  },

  async stream(url) {
    assert.equal(getAnswer(await collect((await connectTo(url)).stream("count"))), "one two three");
  },

  async get(url) {
    const remote = await connectTo(url);
    const response = await remote.send("count");
    if (!("task" in response)) throw new Error("The agent answered with a message.");
    let task = await remote.tasks.get(response.task.id);
    // Some servers answer before the task has ended.
    while (!isTerminal(task.status.state)) {
      await pause(50);
      task = await remote.tasks.get(response.task.id);
    }
    assert.equal(task.status.state, "TASK_STATE_COMPLETED");
  },
};

function connectTo(url: string): Promise<A2AClient> {
  return connect(url, { reconnect: { maxRetries: 2, initialDelayMs: 50 } });
}

function getAnswer(response: SendMessageResponse): string {
  if (!("task" in response)) return getText(response.message.parts);
  const { artifacts = [], status } = response.task;
  const text = artifacts.map(({ parts }) => getText(parts)).join("");
  // Strands ends each answer with a line feed.
  return (text === "" ? getText(status.message?.parts ?? []) : text).trimEnd();
}
