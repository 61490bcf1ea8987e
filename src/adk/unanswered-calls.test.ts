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
import { connect, type A2AClient } from "../client/index.ts";
import { type DataPart, type Part, type Task, getText } from "../protocol/index.ts";
import type { Server } from "../server/index.ts";
import { ScriptedLlm } from "./models/index.ts";
import { findUnansweredCalls } from "./unanswered-calls.ts";
import { toA2a } from "./to-a2a.ts";
import type { AdkEvent } from "./types.ts";

setLogLevel(LogLevel.ERROR);

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});

const parameters = z.object({});
/** Works until a test has it find something, whether it is cancelled or not. */
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

/** Calls the tool that it is told to; otherwise it tells its history, in which every call has its answer. */
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

/** A task that is cancelled while its tool is at work: its context. */
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

describe("a call whose run was cut off", () => {
  it("is answered honestly before the next message of its context, once", async () => {
    const remote = await serveAgent();
    const contextId = await cancelDuringToolCall(remote);
    const expected = /^dig \| dig\? \| \{"error":"No result: .*interrupted.*"\} \| How\?$/;
    expect(getArtifactText(getTask(await remote.send("How?", { contextId })))).toMatch(expected);
    const again = getArtifactText(getTask(await remote.send("Why?", { contextId })));
    expect(again.split("No result: ")).toHaveLength(2 + 1);
  });

  it("is answered also in the session of an agent that is a tool", async () => {
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

  it("is answered also when its tool is none", async () => {
    const remote = await serveAgent();
    const failed = getTask(await remote.send("dance"));
    expect(failed.status.state).toBe("TASK_STATE_FAILED");
    const { contextId } = failed;
    expect(getArtifactText(getTask(await remote.send("How?", { contextId })))).toMatch(
      /^dance \| dance\? \| \{"error"/,
    );
  });

  it("has its own answer when it was at work all the time, in another task", async () => {
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
    const later = getArtifactText(getTask(await remote.send("So?", { contextId })));
    expect(later).toMatch(/^dig \| dig\? \| \{"result":"gold"\} \| /);
  });

  it("is left alone when it waits for a person, and its answer is taken", async () => {
    const remote = await serveAgent();
    const asked = getTask(await remote.send("wish"));
    const { contextId } = asked;
    expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(getArtifactText(getTask(await remote.send("How?", { contextId })))).toBe("wish | wish? | How?");
    const done = getTask(await remote.send(buildApproval(asked), { taskId: asked.id }));
    expect(getArtifactText(done)).toContain('wish? | {"status":"approved"}');
  });

  it.each(["wish", "risk"])("is answered when nobody waits for the person any more: %s", async (name) => {
    const remote = await serveAgent();
    const asked = getTask(await remote.send(name));
    expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const { contextId } = asked;
    expect(getArtifactText(getTask(await remote.send("How?", { contextId })))).not.toContain("No result");
    await remote.tasks.cancel(asked.id);
    const history = getArtifactText(getTask(await remote.send("And now?", { contextId })));
    expect(history.startsWith(`${name} | ${name}? | {"error":"No result`)).toBe(true);
  });
});

describe("a task in whose context older tasks wait", () => {
  const key = "adk_waiting_task_ids";

  it("names them, and they go on waiting", async () => {
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

  it("names them no more once they are answered", async () => {
    const remote = await serveAgent();
    const first = getTask(await remote.send("approve"));
    const { contextId } = first;
    const second = getTask(await remote.send("approve", { contextId }));
    await remote.send(buildApproval(first), { taskId: first.id });
    const done = getTask(await remote.send(buildApproval(second), { taskId: second.id }));
    expect(done.metadata?.[key]).toEqual([]);
    expect(getTask(await remote.send("How?", { contextId })).metadata).not.toHaveProperty(key);
  });
});

describe("the calls of a history", () => {
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
    const { interrupted, awaitingUser: asked } = findUnansweredCalls(events, answers.content);
    return [
      interrupted.map((open) => open.call.id),
      asked.map(({ call, orphanedCall: leaves }) => [call.id, leaves?.call.id]),
    ];
  };
  const longRunning = (id: string): AdkEvent => call(id, { longRunningToolIds: [id] });

  it("are open until they are answered; of those that wait for a person, until the person answers", () => {
    expect(ids([call("1"), response("1")])).toEqual([[], []]);
    expect(ids([call("1"), { author: "user", content: { parts: [{ text: "x" }] } }])).toEqual([["1"], []]);
    expect(ids([longRunning("1")])).toEqual([[], [["1", "1"]]]);
    expect(ids([longRunning("1"), response("1")])).toEqual([[], [["1", undefined]]]);
    expect(ids([longRunning("1"), response("1"), response("1", "user")])).toEqual([[], []]);
    expect(ids([longRunning("1"), response("1")], response("1", "user"))).toEqual([[], []]);
  });

  it("are held back while a person is asked whether they may be made", () => {
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
      // It is made once the person has said so; who is interrupted then is interrupted.
      expect(ids([call("1"), asking], response("2", "user"))).toEqual([[], []]);
      expect(ids([call("1"), asking, response("2", "user")])).toEqual([["1"], []]);
    }
  });

  it("are nobody's to answer in their place when they are ADK's own, or were made elsewhere", () => {
    const own = { parts: [{ functionCall: { id: "1", name: "adk_request_input" } }] };
    const elsewhere = { customMetadata: { "a2a:task_id": "t" } };
    expect(ids([{ author: "a", content: own }])).toEqual([[], []]);
    expect(ids([{ author: "a", content: own, longRunningToolIds: ["1"] }])).toEqual([[], [["1", undefined]]]);
    expect(ids([call("1", elsewhere)])).toEqual([[], []]);
    expect(ids([call("1", { ...elsewhere, longRunningToolIds: ["1"] })])).toEqual([[], [["1", undefined]]]);
    expect(ids([{ author: "user", content: { parts: [{ functionCall: { id: "1" } }] } }])).toEqual([[], []]);
  });
});
