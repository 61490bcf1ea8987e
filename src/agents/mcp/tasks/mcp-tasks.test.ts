import type { SerializedTaskReference } from "@modelcontextprotocol/ext-tasks/client";
import { taskId as toTaskId } from "@modelcontextprotocol/ext-tasks/core";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectTestMcpHost2025 } from "../mcp-hosts.fixture.ts";
import { createMcpServer, type McpAgentSource, type McpServerOptions } from "../index.ts";
import {
  createScriptedAgent,
  type ScriptedAgentServer,
  serveScriptedAgent,
} from "../scripted-agent.fixture.ts";
import type { ServerOptions } from "../../../server/index.ts";
import { connectMcpTaskHost, type McpTaskHost, type McpTaskHostOptions } from "./mcp-task-host.fixture.ts";

const TOOL = "parrot_say";
const EXTENSION = "io.modelcontextprotocol/tasks";

async function serveParrot(streaming = true): Promise<ScriptedAgentServer> {
  const parrot = await serveScriptedAgent(streaming);
  onTestFinished(() => parrot.close());
  return parrot;
}

async function openHost(
  parrot: McpAgentSource,
  hostOptions?: McpTaskHostOptions,
  options: McpServerOptions = { taskAfterMs: 0 },
): Promise<McpTaskHost & { readonly url: string }> {
  const server = await createMcpServer({ parrot }, options);
  onTestFinished(() => server.close());
  const { url } = await server.listen();
  const host = await connectMcpTaskHost(url, hostOptions);
  onTestFinished(() => host.close());
  return { ...host, url };
}

/** Starts a tool call, and returns the id of the MCP task. */
async function startTask(host: McpTaskHost, message: string): Promise<string> {
  const execution = await host.session.callTool(TOOL, { message });
  if (execution.kind !== "task") throw new Error("The call did not become a task.");
  const { taskId } = execution.handle;
  await execution.detach();
  return taskId;
}

describe.each([[true], [false]])("MCP Tasks with the official client (A2A streaming: %s)", (streaming) => {
  it("turns a long tool call into a task, and returns the result of the call", async () => {
    const parrot = await serveParrot(streaming);
    const host = await openHost(parrot.url);
    const execution = await host.session.callTool(TOOL, { message: "work" });
    expect(execution.kind).toBe("task");
    const handle = execution.handle;
    if (!handle) throw new Error("no task");
    expect(await host.session.task(handle.taskId).snapshot()).toMatchObject({ status: "working", ttl: null });
    parrot.finishWork();
    const { outcome } = await execution.settle();
    expect(outcome).toMatchObject({
      status: "completed",
      result: {
        content: [{ type: "text", text: "one two three" }],
        structuredContent: { state: "TASK_STATE_COMPLETED", text: "one two three" },
      },
    });
  });

  it("asks the host's user, and continues with the answer", async () => {
    const questions: string[] = [];
    const respond = (question: string): { action: "accept"; content: { answer: string } } => {
      questions.push(question);
      return { action: "accept", content: { answer: "Köln" } };
    };
    const host = await openHost((await serveParrot(streaming)).url, { respond });
    const execution = await host.session.callTool(TOOL, { message: "ask" });
    expect(execution.kind).toBe("task");
    expect((await execution.settle()).outcome).toMatchObject({
      status: "completed",
      result: { content: [{ type: "text", text: "You live in Köln." }] },
    });
    expect(questions).toEqual(['The agent "parrot" asks: Which city?']);
  });

  it("cancels the agent's task", async () => {
    const parrot = await serveParrot(streaming);
    const host = await openHost(parrot.url);
    const execution = await host.session.callTool(TOOL, { message: "wait" });
    await execution.cancel();
    expect((await execution.settle()).outcome.status).toBe("cancelled");
    await parrot.stateRecorder.waitForState("TASK_STATE_CANCELED");
  });
});

describe("MCP Tasks", () => {
  it("returns the result directly if the agent answers in time", async () => {
    const { url } = await serveParrot();
    const host = await openHost(url, {}, { taskAfterMs: 60_000 });
    for (const message of ["hello", "reply"]) {
      const execution = await host.session.callTool(TOOL, { message });
      expect(execution.kind).toBe("immediate");
    }
  });

  it("reports an agent's failure as the result of a completed task", async () => {
    const host = await openHost((await serveParrot()).url, { respond: () => ({ action: "cancel" }) });
    const failed = await host.session.callTool(TOOL, { message: "fail" });
    expect((await failed.settle()).outcome).toMatchObject({
      status: "completed",
      result: { isError: true, content: [{ type: "text", text: "No luck." }] },
    });
  });

  it("shows a request to sign in to the user", async () => {
    const questions: string[] = [];
    const host = await openHost((await serveParrot()).url, {
      respond: (question) => {
        questions.push(question);
        return { action: "decline" };
      },
    });
    const execution = await host.session.callTool(TOOL, { message: "authenticate" });
    expect((await execution.settle()).outcome.status).toBe("cancelled");
    expect(questions).toEqual(['The agent "parrot" asks: Sign in at https://example.com/in']);
  });

  it("cancels the task if the user refuses to answer", async () => {
    const parrot = await serveParrot();
    const host = await openHost(parrot.url, { respond: () => ({ action: "decline" }) });
    const execution = await host.session.callTool(TOOL, { message: "ask" });
    expect((await execution.settle()).outcome.status).toBe("cancelled");
    expect(parrot.stateRecorder.states).toContain("TASK_STATE_CANCELED");
  });

  it.each<[string, McpTaskHostOptions, McpServerOptions]>([
    ["the host has no elicitation", {}, { taskAfterMs: 0 }],
    ["askUser is false", { respond: () => ({ action: "cancel" }) }, { taskAfterMs: 0, askUser: false }],
  ])("gives a question to the model if %s", async (_, hostOptions, options) => {
    const host = await openHost((await serveParrot()).url, hostOptions, options);
    const execution = await host.session.callTool(TOOL, { message: "ask" });
    const { outcome } = await execution.settle();
    const { structuredContent } = (
      outcome as unknown as { result: { structuredContent: { taskId: string } } }
    ).result;
    expect(structuredContent).toMatchObject({ state: "TASK_STATE_INPUT_REQUIRED", text: "Which city?" });
    const answered = await host.session.callTool(TOOL, { taskId: structuredContent.taskId, message: "Rome" });
    expect((await answered.settle()).outcome).toMatchObject({
      result: { content: [{ type: "text", text: "You live in Rome." }] },
    });
  });

  it("accepts each answer once, and ignores answers to other questions", async () => {
    const host = await openHost((await serveParrot()).url, { respond: () => ({ action: "cancel" }) });
    const created = await host.request("tools/call", { name: TOOL, arguments: { message: "ask" } });
    const { taskId } = (created as unknown as { result: { taskId: string } }).result;
    const getTask = async (): Promise<{ status: string; inputRequests?: object; result?: object }> =>
      ((await host.request("tasks/get", { taskId })) as unknown as { result: never }).result;
    const [key = ""] = Object.keys((await getTask()).inputRequests ?? {});
    const answerTask = (answer: string, to = key): Promise<unknown> =>
      host.request("tasks/update", {
        taskId,
        inputResponses: { [to]: { action: "accept", content: { answer } } },
      });
    expect(await answerTask("Paris", "other")).toMatchObject({ kind: "result" });
    expect((await getTask()).status).toBe("input_required");
    const answers = await Promise.all([answerTask("Rome"), answerTask("Rome")]);
    expect(answers).toMatchObject([{ kind: "result" }, { kind: "result" }]);
    expect(await answerTask("Oslo")).toMatchObject({ kind: "result" });
    await expect.poll(async () => (await getTask()).status).toBe("completed");
    expect((await getTask()).result).toMatchObject({
      content: [{ type: "text", text: "You live in Rome." }],
    });
  });

  it("rejects task requests without a known task, and requests that do not declare the extension", async () => {
    const parrot = await serveParrot();
    const host = await openHost(parrot.url);
    const taskId = await startTask(host, "wait");
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      for (const id of ["unknown:x:1", "parrot:unknown:1", "nonsense", `${taskId}:1`]) {
        const response = await host.request(method, { taskId: id, inputResponses: {} });
        expect([id, response]).toMatchObject([id, { kind: "error", error: { code: -32602 } }]);
      }
    }
    for (const method of ["tasks/result", "tasks/list"])
      expect(await host.request(method, { taskId })).toMatchObject({ error: { code: -32601 } });
    const plain = await connectMcpTaskHost(host.url, { declaresTasks: false });
    onTestFinished(() => plain.close());
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"])
      expect(await plain.request(method, { taskId, inputResponses: {} })).toMatchObject({
        error: { code: -32021, data: { requiredCapabilities: { extensions: { [EXTENSION]: {} } } } },
      });
    const direct = await plain.request("tools/call", { name: TOOL, arguments: { message: "hello" } });
    expect(direct).toMatchObject({
      result: { resultType: "complete", content: [{ text: "You said: hello" }] },
    });
    expect((await host.session.task(toTaskId(taskId)).snapshot()).status).toBe("working");
  });

  it("does not exist for hosts of MCP 2025", async () => {
    const server = await createMcpServer({ parrot: (await serveParrot()).url }, { taskAfterMs: 0 });
    onTestFinished(() => server.close());
    const { url } = await server.listen();
    const host = await connectTestMcpHost2025({ url });
    onTestFinished(() => host.close());
    expect((await host.callTool(TOOL, { message: "hello" })).content).toEqual([
      { type: "text", text: "You said: hello" },
    ]);
    await expect(host.requestTask("parrot:x:1")).rejects.toMatchObject({ code: -32601 });
  });

  it("is resumed by another host at another server of the same agent", async () => {
    const parrot = await serveParrot();
    const first = await openHost(parrot.url);
    const execution = await first.session.callTool(TOOL, { message: "work" });
    if (execution.kind !== "task") throw new Error("no task");
    const references: SerializedTaskReference[] = [];
    await execution.handoff((reference) => void references.push(reference));
    // A close of the first session would cancel the task.
    const second = await openHost(parrot.url);
    const resumed = await second.session.resumeTask(references[0] as SerializedTaskReference);
    parrot.finishWork();
    expect((await resumed.settle()).outcome).toMatchObject({
      status: "completed",
      result: { structuredContent: { text: "one two three" } },
    });
  });

  it("belongs to the caller that the server authenticates", async () => {
    const agent = createScriptedAgent({ streaming: true });
    const authenticate: ServerOptions["authenticate"] = ({ header }) => {
      const [, principal] = /^Bearer (\w+)$/.exec(header("authorization") ?? "") ?? [];
      return principal === undefined ? undefined : { tenant: "", principal };
    };
    const options = { taskAfterMs: 0, serverOptions: { authenticate } };
    const alice = await openHost(agent, { headers: { authorization: "Bearer alice" } }, options);
    const taskId = await startTask(alice, "wait");
    expect((await alice.session.task(toTaskId(taskId)).snapshot()).status).toBe("working");
    const bob = await connectMcpTaskHost(alice.url, { headers: { authorization: "Bearer bob" } });
    onTestFinished(() => bob.close());
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      const response = await bob.request(method, { taskId, inputResponses: {} });
      expect(response).toMatchObject({ kind: "error", error: { code: -32602 } });
    }
    const stranger = await connectMcpTaskHost(alice.url);
    onTestFinished(() => stranger.close());
    expect(await stranger.request("tasks/get", { taskId })).toMatchObject({ kind: "error" });
    expect((await alice.session.task(toTaskId(taskId)).snapshot()).status).toBe("working");
  });
});
