import { expect, it, onTestFinished } from "vitest";
import { createMcpServer, type McpServer } from "../index.ts";
import { type ScriptedAgentServer, serveScriptedAgent } from "../scripted-agent.fixture.ts";
import { connectMcpTaskHost, type McpStreamMessage, type McpTaskHost } from "./mcp-task-host.fixture.ts";

interface CallResult {
  readonly taskId?: string;
  readonly structuredContent?: { readonly taskId: string };
}

async function openHost(declaresTasks = true): Promise<{
  host: McpTaskHost;
  mcp: McpServer;
  parrot: ScriptedAgentServer;
  startTask: (message: string) => Promise<string>;
}> {
  const parrot = await serveScriptedAgent();
  onTestFinished(() => parrot.close());
  const mcp = await createMcpServer({ parrot: parrot.url }, { taskAfterMs: 0 });
  onTestFinished(() => mcp.close());
  const { url } = await mcp.listen();
  const host = await connectMcpTaskHost(url, { declaresTasks, respond: () => ({ action: "cancel" }) });
  onTestFinished(() => host.close());
  const startTask = async (message: string): Promise<string> => {
    const response = await host.request("tools/call", { name: "parrot_say", arguments: { message } });
    const { taskId, structuredContent } = (response as unknown as { result: CallResult }).result;
    // A task that ends immediately is not an MCP task, but has the same id scheme.
    return taskId ?? `parrot:${structuredContent?.taskId ?? ""}:1`;
  };
  return { host, mcp, parrot, startTask };
}

const getStatus = ({ params }: McpStreamMessage): unknown => params?.["status"];

it("sends the state of each task now and after each change, until all tasks have ended", async () => {
  const { host, parrot, startTask } = await openHost();
  const taskId = await startTask("work");
  const messages: McpStreamMessage[] = [];
  for await (const message of host.listen({ taskIds: [taskId, "parrot:unknown:1"] })) {
    messages.push(message);
    if (getStatus(message) === "working") parrot.finishWork();
  }
  const [acknowledged, ...others] = messages;
  expect(acknowledged).toMatchObject({
    method: "notifications/subscriptions/acknowledged",
    params: { notifications: { taskIds: [taskId] } },
  });
  expect(others.at(-1)).toMatchObject({ result: { resultType: "complete" } });
  const tasks = others.slice(0, -1);
  expect(new Set(tasks.map(({ method }) => method))).toEqual(new Set(["notifications/tasks"]));
  expect(tasks.at(0)).toMatchObject({ params: { taskId, status: "working" } });
  expect(tasks.at(-1)).toMatchObject({
    params: { status: "completed", result: { structuredContent: { text: "one two three" } } },
  });
  // A notification is what tasks/get returns.
  const { result } = (await host.request("tasks/get", { taskId })) as unknown as { result: object };
  const { _meta: _notificationMeta, ...last } = tasks.at(-1)?.params ?? {};
  expect(result).toMatchObject(last);
});

it("sends questions, and the state after the answer", async () => {
  const { host, startTask } = await openHost();
  const taskId = await startTask("ask");
  const statuses: unknown[] = [];
  for await (const message of host.listen({ taskIds: [taskId] })) {
    if (message.method !== "notifications/tasks") continue;
    statuses.push(getStatus(message));
    if (getStatus(message) !== "input_required") continue;
    const [key = ""] = Object.keys(message.params?.["inputRequests"] as object);
    const inputResponses = { [key]: { action: "accept", content: { answer: "Rome" } } };
    await host.request("tasks/update", { taskId, inputResponses });
  }
  expect(statuses[0]).toBe("input_required");
  expect(statuses.at(-1)).toBe("completed");
});

it("requires the extension", async () => {
  const { host } = await openHost(false);
  for await (const message of host.listen({ taskIds: ["parrot:x:1"] }))
    expect(message).toMatchObject({ error: { code: -32021 } });
});

it("ends with the server, and also carries changes of the tools", async () => {
  const { mcp, startTask } = await openHost();
  const host = await connectMcpTaskHost("http://localhost/mcp", {
    headers: { host: "localhost" },
    fetch: (input, init) => mcp.fetch(new Request(input, init)),
  });
  const taskIds = [await startTask("fail")];
  const messages: McpStreamMessage[] = [];
  for await (const message of host.listen({ taskIds, toolsListChanged: true })) {
    messages.push(message);
    // The task has ended, but the subscription to the tools continues.
    if (getStatus(message) === "completed") void mcp.close();
  }
  expect(messages).toMatchObject([
    {
      method: "notifications/subscriptions/acknowledged",
      params: { notifications: { taskIds, toolsListChanged: true } },
    },
    { method: "notifications/tasks", params: { status: "completed", result: { isError: true } } },
    { result: { resultType: "complete" } },
  ]);
});
