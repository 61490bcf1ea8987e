import {
  BaseAgent,
  createEvent,
  type Event,
  FunctionTool,
  type InvocationContext,
  LlmAgent,
  LogLevel,
  LongRunningFunctionTool,
  setLogLevel,
} from "@google/adk";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { connect, type A2AClient } from "../../client/index.ts";
import {
  ArtifactContentTracker,
  type DataPart,
  type Part,
  type Task,
  getText,
} from "../../protocol/index.ts";
import type { Server } from "../../server/index.ts";
import { ScriptedLlm } from "./models/index.ts";
import { RemoteAgent } from "./remote/remote-agent.ts";
import { toA2a, type ToA2aOptions } from "./to-a2a.ts";

setLogLevel(LogLevel.ERROR);

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});

async function serveAgent(
  agent: BaseAgent,
  options: ToA2aOptions = {},
): Promise<{ remote: A2AClient; url: string }> {
  const server = toA2a(agent, { port: 0, store: "memory", ...options });
  servers.push(server);
  const { url, agents } = await server.listen();
  const headers = options.authenticate ? { authorization: "Bearer alice" } : {};
  return { remote: await connect(url, { headers }), url: agents[0]?.url ?? "" };
}

function requireTask(result: object): Task {
  if (!("task" in result)) throw new Error("not a task");
  return result.task as Task;
}

const getArtifactText = (task: Task): string =>
  (task.artifacts ?? []).map(({ parts }) => getText(parts)).join("");

const requestApprovalTool = new LongRunningFunctionTool({
  name: "request_approval",
  description: "Asks a human",
  parameters: z.object({}),
  execute: () => ({ status: "pending" }),
});

/** Returns an agent that requests approval if the message is "approve". */
function createApprovalAgent(): LlmAgent {
  return new LlmAgent({
    name: "clerk",
    tools: [requestApprovalTool],
    model: new ScriptedLlm(({ text, results }) => {
      const [result] = results;
      if (result) return result.response?.["status"] === "pending" ? "I have asked." : "Approved.";
      return text === "approve" ? { call: "request_approval" } : `You said ${text}.`;
    }),
  });
}

function buildApproval(task: Task): Part[] {
  const call = task.status.message?.parts[0] as DataPart;
  const { id } = call.data as { id: string };
  const response = { id, name: "request_approval", response: { status: "approved" } };
  return [{ data: response, metadata: { adk_type: "function_response" } }];
}

/** Returns a promise and the function that resolves it. */
function createDeferred(): { kept: Promise<void>; keep: () => void } {
  let keep = (): void => {};
  const kept = new Promise<void>((resolve) => {
    keep = resolve;
  });
  return { kept, keep };
}

async function startTask(remote: A2AClient): Promise<Task> {
  return requireTask(await remote.send("go", { configuration: { returnImmediately: true } }));
}

describe("canceling a task of an ADK agent", () => {
  it("during a model call aborts the model and cancels the task [V19, J6]", async () => {
    const called = createDeferred();
    const aborted = createDeferred();
    class SlowAgent extends BaseAgent {
      protected override async *runAsyncImpl({
        abortSignal,
      }: InvocationContext): AsyncGenerator<Event, void, void> {
        yield createEvent({
          author: "slow",
          partial: true,
          content: { role: "model", parts: [{ text: "Let me " }] },
        });
        abortSignal?.addEventListener("abort", aborted.keep);
        called.keep();
        await aborted.kept;
      }
      protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {}
    }
    const { remote } = await serveAgent(new SlowAgent({ name: "slow" }));
    const { id } = await startTask(remote);
    await called.kept;
    const canceledTask = await remote.tasks.cancel(id);
    await aborted.kept;
    expect(canceledTask.status.state).toBe("TASK_STATE_CANCELED");
    expect(getArtifactText(await remote.tasks.get(id))).toBe("Let me ");
  });

  it("during a tool that ignores the signal is immediate and drops the result [V19, J29]", async () => {
    const called = createDeferred();
    const release = createDeferred();
    const tool = new FunctionTool({
      name: "dig",
      description: "Digs",
      parameters: z.object({}),
      execute: async () => {
        called.keep();
        await release.kept;
        return { found: "gold" };
      },
    });
    const agent = new LlmAgent({
      name: "digger",
      tools: [tool],
      model: new ScriptedLlm(({ results }) => (results.length > 0 ? "Gold!" : { call: "dig" })),
    });
    const { remote } = await serveAgent(agent);
    const { id } = await startTask(remote);
    await called.kept;
    expect((await remote.tasks.cancel(id)).status.state).toBe("TASK_STATE_CANCELED");
    release.keep();
    // After another complete task, nothing has been added.
    expect(getArtifactText(requireTask(await remote.send("again")))).toContain("Gold!");
    expect(JSON.stringify(await remote.tasks.get(id))).not.toMatch(/gold/i);
  });

  it("also cancels the task of a remote agent [J20]", async () => {
    const called = createDeferred();
    const aborted = createDeferred();
    class Slow extends BaseAgent {
      protected override async *runAsyncImpl({
        abortSignal,
      }: InvocationContext): AsyncGenerator<Event, void, void> {
        yield createEvent({ author: "slow", content: { role: "model", parts: [{ text: "Far away." }] } });
        abortSignal?.addEventListener("abort", aborted.keep);
        called.keep();
        await aborted.kept;
      }
      protected override async *runLiveImpl(): AsyncGenerator<Event, void, void> {}
    }
    const child = await serveAgent(new Slow({ name: "slow" }));
    const parent = await serveAgent(new RemoteAgent({ name: "near", agent: child.url }));
    const { id } = await startTask(parent.remote);
    await called.kept;
    expect((await parent.remote.tasks.cancel(id)).status.state).toBe("TASK_STATE_CANCELED");
    await aborted.kept;
    await vi.waitFor(
      async () => {
        const { tasks } = await child.remote.tasks.list();
        expect(tasks).toMatchObject([{ status: { state: "TASK_STATE_CANCELED" } }]);
      },
      { timeout: 30_000 },
    );
  });

  it("while it waits for its user prevents later answers [V19]", async () => {
    const { remote } = await serveAgent(createApprovalAgent());
    const waitingTask = requireTask(await remote.send("approve"));
    expect(waitingTask.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    expect((await remote.tasks.cancel(waitingTask.id)).status.state).toBe("TASK_STATE_CANCELED");
    await expect(remote.send(buildApproval(waitingTask), { taskId: waitingTask.id })).rejects.toMatchObject({
      reason: "UNSUPPORTED_OPERATION",
    });
  });
});

describe("a context of an ADK agent", () => {
  it("accepts another task while one waits, which can still be answered [J10, J7]", async () => {
    const { remote } = await serveAgent(createApprovalAgent());
    const waitingTask = requireTask(await remote.send("approve"));
    const { contextId } = waitingTask;
    const otherTask = requireTask(await remote.send("hello", { contextId }));
    expect(otherTask.status.state).toBe("TASK_STATE_COMPLETED");
    expect((await remote.tasks.get(waitingTask.id)).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const completedTask = requireTask(
      await remote.send(buildApproval(waitingTask), { taskId: waitingTask.id }),
    );
    expect(completedTask.status.state).toBe("TASK_STATE_COMPLETED");
    expect(getArtifactText(completedTask)).toBe("I have asked.Approved.");
  });
});

describe("the server of an ADK agent", () => {
  it("returns the error codes of A2A [J4]", async () => {
    const { remote, url } = await serveAgent(createApprovalAgent());
    const completedTask = requireTask(await remote.send("hello"));
    const code = async (method: string, params: object): Promise<unknown> => {
      const response = await fetch(url, {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      });
      return ((await response.json()) as { error?: { code: number } }).error?.code;
    };
    expect(await code("GetTask", { id: "unknown" })).toBe(-32001);
    expect(await code("CancelTask", { id: completedTask.id })).toBe(-32002);
    expect(await code("Sing", {})).toBe(-32601);
    expect(await code("SendMessage", { message: { messageId: "m", role: "ROLE_USER", parts: [] } })).toBe(
      -32602,
    );
  });

  it("returns 401 with a challenge to unauthenticated callers [J5]", async () => {
    const authenticate: ToA2aOptions["authenticate"] = (request) => {
      const [, principal] = /^Bearer (\w+)$/.exec(request.header("authorization") ?? "") ?? [];
      return principal ? { tenant: "", principal } : undefined;
    };
    const { remote, url } = await serveAgent(createApprovalAgent(), { authenticate });
    const { status, headers } = await fetch(url, { method: "POST", body: "{}" });
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toMatch(/^Bearer/);
    expect(requireTask(await remote.send("hello")).metadata?.["adk_user_id"]).toBe("alice");
  });

  it("supports 1.0: lists tasks, and omits a history of length 0 [J27]", async () => {
    const { remote } = await serveAgent(createApprovalAgent());
    const { id } = requireTask(await remote.send("hello"));
    expect((await remote.tasks.list()).tasks).toMatchObject([{ id }]);
    expect(await remote.tasks.get(id, { historyLength: 0 })).not.toHaveProperty("history");
  });

  it("returns metadata without streaming [J12]", async () => {
    const { remote } = await serveAgent(createApprovalAgent());
    const { id } = requireTask(await remote.send("hello"));
    expect(await remote.tasks.get(id)).toMatchObject({
      metadata: { adk_app_name: "clerk" },
      artifacts: [{ metadata: { adk_author: "clerk" } }],
    });
  });

  it("activates the extension of ADK's bridges on request", async () => {
    const { remote, url } = await serveAgent(createApprovalAgent());
    const [extension] = remote.card.capabilities.extensions ?? [];
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "a2a-version": "1.0",
        "a2a-extensions": extension?.uri ?? "",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ListTasks", params: {} }),
    });
    expect(response.headers.get("a2a-extensions")).toBe(extension?.uri);
  });

  it("runs 100 concurrent tasks with separate artifacts, streamed or not [J1]", async () => {
    const agent = new LlmAgent({
      name: "a",
      model: new ScriptedLlm(({ text }) => `${text} and so on for a while`),
    });
    const { remote } = await serveAgent(agent);
    const streamed = async (said: string): Promise<{ ids: Set<string>; text: string }> => {
      const ids = new Set<string>();
      const tracker = new ArtifactContentTracker();
      let text = "";
      for await (const event of remote.stream(said)) {
        if (!("artifactUpdate" in event)) continue;
        ids.add(event.artifactUpdate.artifact.artifactId);
        text += getText(tracker.addUpdate(event.artifactUpdate).parts);
      }
      return { ids, text };
    };
    const whole = async (said: string): Promise<{ ids: Set<string>; text: string }> => {
      const task = requireTask(await remote.send(said));
      return {
        ids: new Set(task.artifacts?.map(({ artifactId }) => artifactId)),
        text: getArtifactText(task),
      };
    };
    const all = await Promise.all(
      Array.from({ length: 100 }, (_, n) => (n % 2 === 0 ? streamed(`task-${n}`) : whole(`task-${n}`))),
    );
    expect(all.map(({ text }) => text)).toEqual(all.map((_, n) => `task-${n} and so on for a while`));
    expect(all.every(({ ids }) => ids.size === 1)).toBe(true);
    expect(new Set(all.flatMap(({ ids }) => [...ids])).size).toBe(100);
  });
});
