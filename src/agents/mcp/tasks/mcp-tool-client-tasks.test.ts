import { once } from "node:events";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { agent, inputRequired } from "../../adapters/index.ts";
import { connect } from "../../../client/index.ts";
import type { Agent, AgentEvent, Run } from "../../../engine/index.ts";
import { getText, type Task } from "../../../protocol/index.ts";
import { createServer, type Server, type StoreOption } from "../../../server/index.ts";
import { findTestPort, listenOnRestartPort } from "../../../../test/support/test-ports.ts";
import { createTempFolder } from "../../../../test/support/store-factories.ts";
import {
  createMcpServer,
  createMcpToolClient,
  type McpToolClient,
  type McpToolClientOptions,
} from "../index.ts";
import { type ScriptedAgentServer, serveScriptedAgent } from "../scripted-agent.fixture.ts";

const TOOL = "parrot_say";

/** Starts an MCP server whose tool calls become MCP tasks at once. `restartPort` is the port of an earlier server. */
async function serveParrotTools(
  url: string,
  restartPort?: number,
): Promise<{ url: string; close: () => Promise<void> }> {
  const server = await createMcpServer({ parrot: url }, { taskAfterMs: 0 });
  onTestFinished(() => server.close());
  const port = restartPort ?? (await findTestPort());
  const { url: mcpUrl } = await listenOnRestartPort(() => server.listen({ port }));
  return { url: mcpUrl, close: () => server.close() };
}

async function openTools(options: Partial<McpToolClientOptions> = {}): Promise<{
  tools: McpToolClient;
  parrot: ScriptedAgentServer;
  mcp: Awaited<ReturnType<typeof serveParrotTools>>;
}> {
  const parrot = await serveScriptedAgent();
  onTestFinished(() => parrot.close());
  const mcp = await serveParrotTools(parrot.url);
  const tools = createMcpToolClient({ url: mcp.url, ...options });
  onTestFinished(() => tools.close());
  return { tools, parrot, mcp };
}

interface ReceivedRequest {
  readonly id: number;
  readonly method: string;
  readonly params: object;
}

/**
 * Opens a tool client with an MCP server that returns `task` to each `tasks/get` request. Without `task`, the
 * server never responds to `tasks/get`. The server adds all requests to `requests`.
 */
async function openToolsWithFixedResults(
  task: object | undefined,
  options: Partial<McpToolClientOptions> = {},
  requests: ReceivedRequest[] = [],
): Promise<McpToolClient> {
  const results: Record<string, object | undefined> = {
    "server/discover": {
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {} },
      serverInfo: { name: "x", version: "1" },
      ttlMs: 0,
      cacheScope: "private",
    },
    "tools/call": { resultType: "task", taskId: "t", status: "working", ttlMs: null },
    "tasks/get": task,
    "tasks/update": { resultType: "complete" },
  };
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = JSON.parse(await readText(request)) as ReceivedRequest;
    requests.push(body);
    const result = results[body.method];
    if (!result) return;
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ jsonrpc: "2.0", id: body.id, result }));
  };
  const http = createHttpServer((request, response) => void respond(request, response)).listen(
    0,
    "127.0.0.1",
  );
  await once(http, "listening");
  onTestFinished(() => void http.close());
  onTestFinished(() => http.closeAllConnections());
  const { port } = http.address() as AddressInfo;
  const tools = createMcpToolClient({ url: `http://127.0.0.1:${port}/mcp`, ...options });
  onTestFinished(() => tools.close());
  return tools;
}

function createFormRequest(properties: object, required: readonly string[]): object {
  const params = { message: "Please fill in.", requestedSchema: { type: "object", properties, required } };
  const inputRequests = { form: { method: "elicitation/create", params } };
  return { resultType: "complete", taskId: "t", status: "input_required", inputRequests };
}

describe("the tool client with an MCP server that creates MCP tasks", () => {
  it("returns the result of the task, and reports the task id and the status messages", async () => {
    const { tools, parrot } = await openTools();
    const ids: string[] = [];
    const progress: (string | undefined)[] = [];
    const result = await tools.callTool(
      TOOL,
      { message: "work" },
      {
        onTask: (id) => {
          ids.push(id);
          parrot.finishWork();
        },
        onProgress: ({ message }) => void progress.push(message),
      },
    );
    expect(result).toMatchObject({ text: "one two three", isError: false });
    expect(ids).toEqual([expect.stringMatching(/^parrot:/) as string]);
    expect(progress).toContain("Step: generate");
    const again = await tools.callTool(TOOL, {}, { taskId: ids[0] ?? "" });
    expect(again).toEqual(result);
  });

  it("validates no output schema against the handle of a task", async () => {
    const { tools, parrot } = await openTools();
    // The SDK's client validates the results of listed tools.
    await tools.listTools();
    parrot.finishWork();
    expect(await tools.callTool(TOOL, { message: "work" })).toMatchObject({ text: "one two three" });
  });

  it("cancels the task when the call is aborted", async () => {
    const { tools, parrot } = await openTools();
    const stop = new AbortController();
    const call = tools.callTool(
      TOOL,
      { message: "wait" },
      { signal: stop.signal, onTask: () => stop.abort(new Error("enough")) },
    );
    await expect(call).rejects.toThrow("enough");
    await parrot.stateRecorder.waitForState("TASK_STATE_CANCELED");
  });

  it("fails if the task is unknown or was canceled", async () => {
    const { tools, parrot } = await openTools();
    await expect(tools.callTool(TOOL, {}, { taskId: "parrot:unknown:1" })).rejects.toThrow("refused");
    const client = await connect(parrot.url);
    const canceled = tools.callTool(
      TOOL,
      { message: "wait" },
      { onTask: async (id) => void (await client.tasks.cancel(id.split(":")[1] ?? "")) },
    );
    await expect(canceled).rejects.toThrow("The MCP server canceled the task");
  });

  it("survives a restart of the MCP server", async () => {
    const { tools, parrot, mcp } = await openTools();
    const result = tools.callTool(
      TOOL,
      { message: "work" },
      {
        onTask: async () => {
          await mcp.close();
          parrot.finishWork();
          setTimeout(() => void serveParrotTools(parrot.url, Number(new URL(mcp.url).port)), 50);
        },
      },
    );
    expect(await result).toMatchObject({ text: "one two three" });
  });

  it("fails when the MCP server does not come back in time", async () => {
    const { tools, mcp } = await openTools({ timeoutMs: 20 });
    const call = tools.callTool(TOOL, { message: "wait" }, { timeoutMs: 300, onTask: () => mcp.close() });
    await expect(call).rejects.toMatchObject({ reason: "UNAVAILABLE" });
  });

  it("returns a question, and continues the task with the answer", async () => {
    const { tools } = await openTools({ acceptsQuestions: true });
    const { question } = await tools.callTool(TOOL, { message: "ask" });
    expect(question).toMatchObject({ text: 'The agent "parrot" asks: Which city?' });
    const options = { taskId: question?.taskId ?? "", answer: "Köln" };
    expect(await tools.callTool(TOOL, {}, options)).toMatchObject({ text: "You live in Köln." });
  });

  it("rejects malformed tasks of the server", async () => {
    const tools = await openToolsWithFixedResults({
      resultType: "complete",
      taskId: "t",
      status: "completed",
      result: { content: 1 },
    });
    await expect(tools.callTool("x")).rejects.toThrow("returned an MCP task without a tool result");
  });

  it("fails when the MCP server accepts requests for the task but sends no response in time", async () => {
    const tools = await openToolsWithFixedResults(undefined, { timeoutMs: 200 });
    await expect(tools.callTool("x")).rejects.toMatchObject({ reason: "UNAVAILABLE" });
    const answer = tools.callTool("x", {}, { taskId: "t", answer: "yes" });
    await expect(answer).rejects.toMatchObject({ reason: "UNAVAILABLE" });
  });

  it.each([
    ["without a text field", { approve: { type: "boolean" } }, []],
    [
      "with two required fields",
      { city: { type: "string" }, nights: { type: "integer" } },
      ["city", "nights"],
    ],
  ])("rejects a form %s", async (_name, properties, required) => {
    const tools = await openToolsWithFixedResults(createFormRequest(properties, required));
    await expect(tools.callTool("x")).rejects.toThrow("agents can answer only one text field");
  });

  it.each([
    ["the only required field", { note: { type: "string" }, city: { type: "string" } }, ["city"], "city"],
    ["the first text field", { nights: { type: "integer" }, city: { type: "string" } }, [], "city"],
  ])("answers %s of a form", async (_name, properties, required, field) => {
    const requests: ReceivedRequest[] = [];
    const form = createFormRequest(properties, required);
    const tools = await openToolsWithFixedResults(form, {}, requests);
    await tools.callTool("x", {}, { taskId: "t", answer: "Rome" });
    expect(requests.find(({ method }) => method === "tasks/update")?.params).toMatchObject({
      inputResponses: { form: { action: "accept", content: { [field]: "Rome" } } },
    });
  });
});

describe("an agent whose tool call is an MCP task", () => {
  const serveAgent = async (
    served: Agent,
    store: StoreOption,
    restartPort?: number,
  ): Promise<{ server: Server; url: string; port: number }> => {
    const server = createServer({ agent: served }, { store });
    onTestFinished(() => server.close({ graceMs: 0 }));
    const port = restartPort ?? (await findTestPort());
    const { agents } = await listenOnRestartPort(() => server.listen({ port }));
    return { server, url: agents[0]?.url ?? "", port };
  };

  it("resumes the MCP task after a restart, and calls the tool again only for the next call", async () => {
    const { tools, parrot } = await openTools();
    const folder = await createTempFolder();
    onTestFinished(folder.remove);
    const attempts: number[] = [];
    const worker: Agent = {
      afterRestart: "resume",
      describe: () => ({ name: "worker", description: "Works" }),
      async *execute(run: Run): AsyncGenerator<AgentEvent, void, undefined> {
        attempts.push(run.attempt);
        const { text } = yield* tools.streamTool(TOOL, { message: "work" }, { run });
        yield { artifact: { artifactId: "answer", parts: [{ text }] } };
        const next = yield* tools.streamTool(TOOL, { message: "hello" }, { run });
        yield { artifact: { artifactId: "next", parts: [{ text: next.text }] } };
      },
    };
    const store = `sqlite:${folder.folder}/tasks.db` as const;
    const first = await serveAgent(worker, store);
    const client = await connect(first.url);
    let taskId = "";
    for await (const event of client.stream("go")) {
      if ("task" in event) taskId = event.task.id;
      // Progress can arrive before the MCP server has returned the id of its task.
      if ("statusUpdate" in event && event.statusUpdate.metadata?.[`colloquy:mcpTask:${TOOL}`]) break;
    }
    await first.server.close({ graceMs: 0 });
    expect(parrot.stateRecorder.states).not.toContain("TASK_STATE_CANCELED");
    const second = await serveAgent(worker, store, first.port);
    parrot.finishWork();
    const restarted = await connect(second.url);
    let task: Task | undefined;
    await expect
      .poll(async () => (task = await restarted.tasks.get(taskId)).status.state)
      .toBe("TASK_STATE_COMPLETED");
    expect(task?.artifacts?.map(({ parts }) => getText(parts))).toEqual(["one two three", "You said: hello"]);
    expect(attempts).toEqual([1, 2]);
    expect(parrot.stateRecorder.states.filter((state) => state === "TASK_STATE_COMPLETED")).toHaveLength(2);
    expect(task?.metadata).toEqual({ [`colloquy:mcpTask:${TOOL}`]: null });
  });

  it("cancels the MCP task if the turn exceeds its time limit, because no later attempt continues it [E24]", async () => {
    const { tools, parrot } = await openTools();
    const worker = agent(
      { name: "worker", description: "Works" },
      async function* (run) {
        const { text } = yield* tools.streamTool(TOOL, { message: "wait" }, { run });
        yield text;
      },
      { maxTurnMs: 300 },
    );
    const client = await connect((await serveAgent(worker, "memory")).url);
    expect(await client.send("go")).toMatchObject({ task: { status: { state: "TASK_STATE_FAILED" } } });
    await parrot.stateRecorder.waitForState("TASK_STATE_CANCELED");
  });

  it("calls the tool again after the recorded MCP task has failed", async () => {
    const requests: ReceivedRequest[] = [];
    const failure = {
      resultType: "complete",
      taskId: "t",
      status: "failed",
      error: { code: 1, message: "No." },
    };
    const tools = await openToolsWithFixedResults(failure, {}, requests);
    const worker = agent({ name: "worker", description: "Works" }, async function* (run) {
      if (run.history.length === 1) {
        yield { status: { state: "TASK_STATE_WORKING" }, metadata: { "colloquy:mcpTask:x": "t" } };
        yield inputRequired("Continue?");
        return;
      }
      for (let call = 1; call <= 2; call++) {
        try {
          yield* tools.streamTool("x", {}, { run });
        } catch {
          yield "failed ";
        }
      }
    });
    const client = await connect((await serveAgent(worker, "memory")).url);
    const asked = await client.send("go");
    if (!("task" in asked)) throw new Error("no task");
    expect(await client.send("yes", { taskId: asked.task.id })).toMatchObject({
      task: {
        artifacts: [{ parts: [{ text: "failed failed " }] }],
        metadata: { "colloquy:mcpTask:x": null },
      },
    });
    expect(requests.filter(({ method }) => method === "tools/call")).toHaveLength(1);
  });

  it("passes the question of the tool to its own caller, and the caller's answer to the tool", async () => {
    const { tools } = await openTools({ acceptsQuestions: true });
    const guide = agent({ name: "guide", description: "Guides" }, async function* (run) {
      const isAnswer = run.history.length > 1;
      const result = yield* tools.streamTool(
        TOOL,
        { message: run.text },
        { run, ...(isAnswer ? { answer: run.text } : {}) },
      );
      yield result.question ? inputRequired(result.question.text) : result.text;
    });
    const client = await connect((await serveAgent(guide, "memory")).url);
    const asked = await client.send("ask");
    if (!("task" in asked)) throw new Error("no task");
    expect(getText(asked.task.status.message?.parts ?? [])).toBe('The agent "parrot" asks: Which city?');
    const answered = await client.send("Rome", { taskId: asked.task.id });
    expect(answered).toMatchObject({
      task: {
        status: { state: "TASK_STATE_COMPLETED" },
        artifacts: [{ parts: [{ text: "You live in Rome." }] }],
      },
    });
  });

  it("cancels the MCP task when a client cancels the agent's task", async () => {
    const { tools, parrot } = await openTools();
    const waiter = agent({ name: "waiter", description: "Waits" }, async function* (run) {
      yield* tools.streamTool(TOOL, { message: "wait" }, { run });
    });
    const client = await connect((await serveAgent(waiter, "memory")).url);
    for await (const event of client.stream("go")) {
      if ("statusUpdate" in event && event.statusUpdate.status.message)
        await client.tasks.cancel(event.statusUpdate.taskId);
    }
    await parrot.stateRecorder.waitForState("TASK_STATE_CANCELED");
    expect(parrot.stateRecorder.states.at(-1)).toBe("TASK_STATE_CANCELED");
  });
});
