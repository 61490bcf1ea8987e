import {
  AgentTool,
  FunctionTool,
  LlmAgent,
  LogLevel,
  LongRunningFunctionTool,
  setLogLevel,
} from "@google/adk";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { connect, type A2AClient } from "../../client/index.ts";
import { type DataPart, type Part, type Task, getText } from "../../protocol/index.ts";
import type { Server } from "../../server/index.ts";
import { ScriptedLlm } from "./models/index.ts";
import { findUnansweredCalls } from "./patch-runner-for-interrupted-calls.ts";
import { toA2a } from "./to-a2a.ts";
import type { AdkEvent } from "./adk-structural-types.ts";

setLogLevel(LogLevel.ERROR);

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});

const parameters = z.object({});
/** Runs until the test provides a result, even if it is canceled. */
let onToolStarted = (_find: (found: string) => void): void => {};
const digTool = new FunctionTool({
  name: "dig",
  description: "Digs",
  parameters,
  execute: () => new Promise<string>((resolve) => onToolStarted(resolve)),
});
const approveTool = new LongRunningFunctionTool({
  name: "approve",
  description: "Asks a person",
  parameters,
  execute: () => ({ status: "pending" }),
});
const confirmedTool = new FunctionTool({
  name: "risk",
  description: "Does what a person is to confirm",
  parameters,
  requireConfirmation: true,
  execute: () => "done",
});
const silentTool = new LongRunningFunctionTool({
  name: "wish",
  description: "Asks a person and says nothing meanwhile",
  parameters,
  execute: () => undefined,
});

/**
 * Returns an agent that calls the requested tool. Otherwise it returns its history, in which every call has a
 * response.
 */
async function serveAgent(rootOf = (worker: LlmAgent): LlmAgent => worker): Promise<A2AClient> {
  const model = new ScriptedLlm(({ text, results, request: { contents } }) => {
    if (results.length > 0 || !/^[a-z]+$/.test(text)) {
      const story = contents.flatMap(({ parts = [] }) =>
        parts.map((part) => {
          const { functionCall, functionResponse } = part;
          if (functionCall) return `${functionCall.name}?`;
          return functionResponse ? JSON.stringify(functionResponse.response) : (part.text ?? "");
        }),
      );
      return [{ text: [story.join(" | ")] }];
    }
    return { call: text };
  });
  const agent = new LlmAgent({
    name: "worker",
    model,
    tools: [digTool, approveTool, silentTool, confirmedTool],
  });
  const server = toA2a(rootOf(agent), { port: 0, store: "memory", runConfig: { maxLlmCalls: 3 } });
  servers.push(server);
  return connect((await server.listen()).url);
}

const getTask = (answer: object): Task => (answer as { task: Task }).task;
const getArtifactText = ({ artifacts = [] }: Task): string =>
  artifacts.map(({ parts }) => getText(parts)).join("");
const buildApproval = ({ status }: Task): Part[] => {
  const call = status.message?.parts[0] as DataPart;
  const { id } = call.data as { id: string };
  return [{ data: { id, response: { status: "approved" } } }];
};

/** Cancels a task while its tool is running, and returns its context. */
async function cancelDuringToolCall(remote: A2AClient): Promise<string> {
  const digging = new Promise<unknown>((resolve) => {
    onToolStarted = resolve;
  });
  let context = "";
  for await (const event of remote.stream("dig")) {
    if (!("task" in event)) continue;
    const { id, contextId } = event.task;
    context = contextId;
    void digging.then(() => remote.tasks.cancel(id));
  }
  return context;
}

describe("an interrupted tool call", () => {
  it("receives one error response before the next message of its context", async () => {
    const remote = await serveAgent();
    const contextId = await cancelDuringToolCall(remote);
    const expected = /^dig \| dig\? \| \{"error":"No result: .*interrupted.*"\} \| How\?$/;
    expect(getArtifactText(getTask(await remote.send("How?", { contextId })))).toMatch(expected);
    const secondAnswer = getArtifactText(getTask(await remote.send("Why?", { contextId })));
    expect(secondAnswer.split("No result: ")).toHaveLength(2 + 1);
  });

  it("receives a response in the session of an agent tool", async () => {
    const remote = await serveAgent(
      (worker) =>
        new LlmAgent({
          name: "boss",
          tools: [new AgentTool({ agent: worker })],
          model: new ScriptedLlm(({ text, results: [answer] }) => {
            const result = answer?.response?.["result"];
            return typeof result === "string"
              ? [{ text: [result] }]
              : { call: "worker", args: { request: text } };
          }),
        }),
    );
    const contextId = await cancelDuringToolCall(remote);
    const expected = /^dig \| dig\? \| \{"error":"No result: .*interrupted.*"\} \| How\?$/;
    expect(getArtifactText(getTask(await remote.send("How?", { contextId })))).toMatch(expected);
  });

  it("receives a response when the tool does not exist", async () => {
    const remote = await serveAgent();
    const failed = getTask(await remote.send("dance"));
    expect(failed.status.state).toBe("TASK_STATE_FAILED");
    const { contextId } = failed;
    expect(getArtifactText(getTask(await remote.send("How?", { contextId })))).toMatch(
      /^dance \| dance\? \| \{"error"/,
    );
  });

  it("keeps its own response when the tool was still running in another task", async () => {
    const remote = await serveAgent();
    const digging = new Promise<(found: string) => void>((resolve) => {
      onToolStarted = resolve;
    });
    const begun = getTask(await remote.send("dig", { configuration: { returnImmediately: true } }));
    const { contextId, id } = begun;
    const find = await digging;
    expect(getArtifactText(getTask(await remote.send("How?", { contextId })))).toContain(
      'dig? | {"error":"No result',
    );
    find("gold");
    while ((await remote.tasks.get(id)).status.state === "TASK_STATE_WORKING");
    expect(getArtifactText(await remote.tasks.get(id))).toContain('dig? | {"result":"gold"}');
    const laterAnswer = getArtifactText(getTask(await remote.send("So?", { contextId })));
    expect(laterAnswer).toMatch(/^dig \| dig\? \| \{"result":"gold"\} \| /);
  });

  it("stays open while it waits for a person, and accepts the response", async () => {
    const remote = await serveAgent();
    const waitingTask = getTask(await remote.send("wish"));
    const { contextId } = waitingTask;
    expect(waitingTask.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(getArtifactText(getTask(await remote.send("How?", { contextId })))).toBe("wish | wish? | How?");
    const completedTask = getTask(await remote.send(buildApproval(waitingTask), { taskId: waitingTask.id }));
    expect(getArtifactText(completedTask)).toContain('wish? | {"status":"approved"}');
  });

  it.each(["wish", "risk"])(
    "receives a response when no task waits for the person any more: %s",
    async (name) => {
      const remote = await serveAgent();
      const waitingTask = getTask(await remote.send(name));
      expect(waitingTask.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
      const { contextId } = waitingTask;
      expect(getArtifactText(getTask(await remote.send("How?", { contextId })))).not.toContain("No result");
      await remote.tasks.cancel(waitingTask.id);
      const history = getArtifactText(getTask(await remote.send("And now?", { contextId })));
      expect(history.startsWith(`${name} | ${name}? | {"error":"No result`)).toBe(true);
    },
  );
});

describe("a task whose context contains older waiting tasks", () => {
  const key = "adk_waiting_task_ids";

  it("lists them, and they keep waiting", async () => {
    const remote = await serveAgent();
    const first = getTask(await remote.send("approve"));
    const { contextId } = first;
    const second = getTask(await remote.send("approve", { contextId }));
    expect(second.metadata?.[key]).toEqual([first.id]);
    expect(second.status.message?.referenceTaskIds).toEqual([first.id]);
    const third = getTask(await remote.send("How?", { contextId }));
    expect(third.status.state).toBe("TASK_STATE_COMPLETED");
    expect(new Set(third.metadata?.[key] as string[])).toEqual(new Set([first.id, second.id]));
    expect((await remote.tasks.get(first.id)).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  });

  it("does not list them once they are answered", async () => {
    const remote = await serveAgent();
    const first = getTask(await remote.send("approve"));
    const { contextId } = first;
    const second = getTask(await remote.send("approve", { contextId }));
    await remote.send(buildApproval(first), { taskId: first.id });
    const completedTask = getTask(await remote.send(buildApproval(second), { taskId: second.id }));
    expect(completedTask.metadata?.[key]).toEqual([]);
    expect(getTask(await remote.send("How?", { contextId })).metadata).not.toHaveProperty(key);
  });
});

describe("the unanswered calls of a history", () => {
  const call = (id: string, more: AdkEvent = {}): AdkEvent => ({
    author: "a",
    content: { role: "model", parts: [{ functionCall: { id, name: "n" } }] },
    ...more,
  });
  const response = (id: string, author = "a"): AdkEvent => ({
    author,
    content: { role: "user", parts: [{ functionResponse: { id, name: "n", response: {} } }] },
  });
  const ids = (events: AdkEvent[], answers: AdkEvent = {}): unknown => {
    const { interrupted, awaitingUser } = findUnansweredCalls(events, answers.content);
    return [
      interrupted.map((open) => open.call.id),
      awaitingUser.map(({ call, orphanedCall }) => [call.id, orphanedCall?.call.id]),
    ];
  };
  const longRunning = (id: string): AdkEvent => call(id, { longRunningToolIds: [id] });

  it("are open until a response arrives, or until the person responds", () => {
    expect(ids([call("1"), response("1")])).toEqual([[], []]);
    expect(ids([call("1"), { author: "user", content: { parts: [{ text: "x" }] } }])).toEqual([["1"], []]);
    expect(ids([longRunning("1")])).toEqual([[], [["1", "1"]]]);
    expect(ids([longRunning("1"), response("1")])).toEqual([[], [["1", undefined]]]);
    expect(ids([longRunning("1"), response("1"), response("1", "user")])).toEqual([[], []]);
    expect(ids([longRunning("1"), response("1")], response("1", "user"))).toEqual([[], []]);
  });

  it("are blocked while a person is asked for confirmation", () => {
    const request = (name: string, args: Record<string, unknown>): AdkEvent => ({
      author: "a",
      content: { parts: [{ functionCall: { id: "2", name, args } }] },
      longRunningToolIds: ["2"],
    });
    for (const asking of [
      request("adk_request_confirmation", { originalFunctionCall: { id: "1" } }),
      request("adk_request_credential", { function_call_id: "1" }),
    ]) {
      expect(ids([call("1"), asking])).toEqual([[], [["2", "1"]]]);
      // The tool runs after the person has confirmed it, and only then can it be interrupted.
      expect(ids([call("1"), asking], response("2", "user"))).toEqual([[], []]);
      expect(ids([call("1"), asking, response("2", "user")])).toEqual([["1"], []]);
    }
  });

  it("receive no error response if they are ADK's own or a remote agent's calls", () => {
    const reservedCall = { parts: [{ functionCall: { id: "1", name: "adk_request_input" } }] };
    const elsewhere = { customMetadata: { "a2a:task_id": "t" } };
    expect(ids([{ author: "a", content: reservedCall }])).toEqual([[], []]);
    expect(ids([{ author: "a", content: reservedCall, longRunningToolIds: ["1"] }])).toEqual([
      [],
      [["1", undefined]],
    ]);
    expect(ids([call("1", elsewhere)])).toEqual([[], []]);
    expect(ids([call("1", { ...elsewhere, longRunningToolIds: ["1"] })])).toEqual([[], [["1", undefined]]]);
    expect(ids([{ author: "user", content: { parts: [{ functionCall: { id: "1" } }] } }])).toEqual([[], []]);
  });
});
