import assert from "node:assert/strict";
import { getText, type StreamResponse, type Task } from "../../../src/protocol/index.ts";
import type { TrafficLine } from "../../../src/observe/trace/index.ts";
import type { ScenarioServerUrls } from "../frameworks/scenario-servers.ts";
import type { ScenarioOutcome } from "../protocol-variants.ts";
import { runScenario } from "../scenarios.ts";
import type { ConsoleApiClient } from "./console-api-client.ts";

/**
 * Runs the scenarios of the console with the test agent of a peer. The scenarios use only the HTTP API of the console,
 * and the peer contains no code of Colloquy.
 */
export async function* runConsoleScenarios(
  { url, securedUrl, token }: ScenarioServerUrls,
  api: ConsoleApiClient,
): AsyncGenerator<ScenarioOutcome> {
  let agent = "";
  yield await runScenario("add", async () => {
    const added = await api.addAgent(url);
    assert.deepEqual([added.name, added.status, added.error], ["Obedient", "connected", undefined]);
    agent = added.id;
  });
  if (agent === "") return;
  for (const [scenario, work] of Object.entries(CONSOLE_SCENARIOS))
    yield await runScenario(scenario, () => work(api, agent));
  yield await runScenario("sign-in", async () => {
    const { id } = await api.addAgent(securedUrl);
    const refused = await api.sendMessage(id, toTextMessage("count"));
    assert.equal(refused.end?.error?.reason, "UNAUTHENTICATED");
    const secured = (await api.listAgents()).find((one) => one.id === id);
    assert.equal(secured?.status, "auth-needed");
    const scheme = secured.signIn.find(({ kind }) => kind === "bearer");
    assert.ok(scheme, "no form for a bearer token");
    await api.signIn(id, { scheme: scheme.scheme, values: { token } });
    const sent = await api.sendMessage(id, toTextMessage("count"));
    const task = await api.readTask(id, requireTaskId(sent.lines));
    assert.equal(getAnswerText(task), "one two three");
    assert.ok(
      !JSON.stringify([sent.lines, await api.listAgents()]).includes(token),
      "the page receives the token",
    );
  });
}

/** Runs the scenarios of the console with the scripted agent of an ADK, which has no question and never waits. */
export async function* runAdkConsoleScenarios(
  url: string,
  api: ConsoleApiClient,
): AsyncGenerator<ScenarioOutcome> {
  let agent = "";
  yield await runScenario("add", async () => {
    const { id, status, error } = await api.addAgent(url);
    assert.deepEqual([status, error], ["connected", undefined]);
    agent = id;
  });
  if (agent === "") return;
  yield await runScenario("card", async () => {
    const { card, signature } = await api.readCard(agent);
    assert.deepEqual([typeof card["name"], signature.status], ["string", "unsigned"]);
  });
  let lines: readonly TrafficLine[] = [];
  yield await runScenario("chat", async () => {
    const sent = await api.sendMessage(agent, toTextMessage("stream"));
    assert.deepEqual(sent.end, { reason: "completed" });
    ({ lines } = sent);
    const { status } = await api.readTask(agent, requireTaskId(lines));
    assert.equal(status.state, "TASK_STATE_COMPLETED");
    // The answer of an agent without streaming is in its response.
    assert.match(JSON.stringify(lines), /sunny/);
  });
  yield await runScenario("stream", async () => {
    assert.ok(listEvents(lines).length >= 3, `${listEvents(lines).length} events`);
  });
  yield await runScenario("list", async () => {
    const { tasks } = await api.listTasks(agent);
    assert.ok(tasks.some(({ id }) => id === requireTaskId(lines)));
  });
  yield await runScenario("task lines", async () => {
    const taskLines = await api.readTaskLines(agent, requireTaskId(lines));
    const kinds = new Set(taskLines.map(({ kind }) => kind));
    assert.ok(kinds.has("request") && kinds.has("response"), [...kinds].join(" "));
    assert.equal(listEvents(taskLines).length, listEvents(lines).length);
  });
}

const CONSOLE_SCENARIOS: Readonly<Record<string, (api: ConsoleApiClient, agent: string) => Promise<void>>> = {
  async card(api, agent) {
    const { card, problems, signature } = await api.readCard(agent);
    assert.equal(card["name"], "Obedient");
    assert.deepEqual(
      problems.filter(({ severity }) => severity === "error"),
      [],
    );
    assert.equal(signature.status, "unsigned");
  },

  async chat(api, agent) {
    const { lines, end } = await api.sendMessage(agent, toTextMessage("count"));
    assert.deepEqual(end, { reason: "completed" });
    const task = await api.readTask(agent, requireTaskId(lines));
    assert.deepEqual([task.status.state, getAnswerText(task)], ["TASK_STATE_COMPLETED", "one two three"]);
  },

  async stream(api, agent) {
    const { lines } = await api.sendMessage(agent, toTextMessage("count"));
    const texts = listEvents(lines).flatMap((event) =>
      "artifactUpdate" in event ? [getText(event.artifactUpdate.artifact.parts)] : [],
    );
    assert.ok(texts.length >= 3, `${texts.length} artifact events`);
    const kinds = new Set(lines.map(({ kind }) => kind));
    for (const kind of ["request", "response", "frame", "stream-end"] as const)
      assert.ok(kinds.has(kind), kind);
  },

  async "follow-up"(api, agent) {
    const asked = await api.sendMessage(agent, toTextMessage("ask"));
    const taskId = requireTaskId(asked.lines);
    const { status, contextId } = await api.readTask(agent, taskId);
    assert.equal(status.state, "TASK_STATE_INPUT_REQUIRED");
    await api.sendMessage(agent, { ...toTextMessage("blue"), taskId, contextId });
    const task = await api.readTask(agent, taskId);
    assert.deepEqual([task.status.state, getAnswerText(task)], ["TASK_STATE_COMPLETED", "got blue"]);
  },

  async cancel(api, agent) {
    let cancellation: Promise<Task> | undefined;
    const { lines } = await api.sendMessage(agent, toTextMessage("wait"), (line) => {
      const isWorking = listEvents([line]).some((event) => findState(event) === "TASK_STATE_WORKING");
      if (isWorking) cancellation ??= api.cancelTask(agent, requireTaskId([line]));
    });
    assert.equal((await cancellation)?.status.state, "TASK_STATE_CANCELED");
    // The stream has ended. Some servers end it without the last status, which the client then reads with GetTask.
    assert.equal((await api.readTask(agent, requireTaskId(lines))).status.state, "TASK_STATE_CANCELED");
  },

  async list(api, agent) {
    const { lines } = await api.sendMessage(agent, toTextMessage("count"));
    const taskId = requireTaskId(lines);
    const { tasks } = await api.listTasks(agent);
    assert.equal(tasks.find(({ id }) => id === taskId)?.state, "TASK_STATE_COMPLETED");
  },

  async "task lines"(api, agent) {
    const { lines } = await api.sendMessage(agent, toTextMessage("count"));
    const stored = await api.readTaskLines(agent, requireTaskId(lines));
    assert.ok(listEvents(stored).length >= 3, `${stored.length} lines`);
  },
};

function toTextMessage(text: string): { parts: { text: string }[] } {
  return { parts: [{ text }] };
}

function listEvents(lines: readonly TrafficLine[]): StreamResponse[] {
  return lines.flatMap((line) =>
    (line.kind === "frame" || line.kind === "event") && line.event !== undefined
      ? [line.event as unknown as StreamResponse]
      : [],
  );
}

function requireTaskId(lines: readonly TrafficLine[]): string {
  const line = lines.find((one) => "task_id" in one && one.task_id !== undefined);
  if (line && "task_id" in line && line.task_id !== undefined) return line.task_id;
  throw new Error(`no line of ${lines.length} has a task id`);
}

function findState(event: StreamResponse | undefined): string | undefined {
  if (!event) return undefined;
  if ("task" in event) return event.task.status.state;
  return "statusUpdate" in event ? event.statusUpdate.status.state : undefined;
}

function getAnswerText({ artifacts = [] }: Task): string {
  return artifacts.map(({ parts }) => getText(parts)).join("");
}
