import {
  AgentTool,
  FunctionTool,
  LlmAgent,
  LogLevel,
  LongRunningFunctionTool,
  ParallelAgent,
  setLogLevel,
  Workflow,
} from "@google/adk";
import { afterEach, describe, expect, it } from "vitest";
import { connect, type A2AClient } from "../../../client/index.ts";
import type { Agent, Run } from "../../../engine/index.ts";
import type { Task } from "../../../protocol/index.ts";
import { createServer, type Server, type ServerOptions } from "../../../server/index.ts";
import { z } from "zod";
import { ScriptedLlm } from "../models/index.ts";
import type { AdkRunnable } from "../lazy-runner.ts";
import { toA2a, type ToA2aOptions } from "../to-a2a.ts";
import { RemoteAgent } from "./remote-agent.ts";

setLogLevel(LogLevel.ERROR);

const servers: Server[] = [];

afterEach(async () => {
  for (const server of servers.splice(0)) await server.close({ graceMs: 0 });
});

async function startServer(server: Server): Promise<string> {
  servers.push(server);
  return (await server.listen({ port: 0 })).url;
}

/** Asks a question, or works until it is canceled. */
const childAgent: Agent = {
  describe: () => ({ name: "child", description: "c", capabilities: { streaming: true } }),
  async *execute({ message, signal }: Run) {
    const [part] = message.parts;
    if (part && "text" in part && part.text === "work") {
      yield { artifact: { artifactId: "a", parts: [{ text: "working" }] } };
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    } else {
      const parts = [{ text: "Which city?" }];
      yield { status: { state: "TASK_STATE_INPUT_REQUIRED" as const, message: { parts } } };
    }
  },
};

/** Returns a client of an agent that delegates to a remote agent, and a client of the remote agent. */
async function createAgentChain(
  parentOf: (remote: RemoteAgent) => AdkRunnable,
  options: ToA2aOptions = {},
  childOptions: ServerOptions = {},
): Promise<{ parent: A2AClient; far: A2AClient }> {
  const url = await startServer(createServer({ child: childAgent }, { store: "memory", ...childOptions }));
  const remote = new RemoteAgent({
    name: "remote",
    description: "Far away.",
    agent: url,
    headers: ({ userId }) => ({ authorization: `Bearer ${userId}` }),
  });
  const served = await startServer(toA2a(parentOf(remote), { store: "memory", ...options }));
  const own = { authorization: "Bearer ada" };
  return { parent: await connect(served, { headers: own }), far: await connect(url, { headers: own }) };
}

const getTask = (answer: object): Task => (answer as { task: Task }).task;

/** Returns the states of the remote agent's tasks once they match the expected states. */
async function pollTaskStates(far: A2AClient, expected: string): Promise<string[]> {
  for (;;) {
    const states = (await far.tasks.list()).tasks.map(({ status }) => status.state);
    if (states.every((state) => state === expected)) return states;
  }
}

const createTransferringAgent = (remote: RemoteAgent): LlmAgent =>
  new LlmAgent({
    name: "boss",
    subAgents: [remote],
    model: new ScriptedLlm([{ call: "transfer_to_agent", args: { agentName: "remote" } }]),
  });

describe("a canceled task with a pending remote task", () => {
  it.each([
    ["a sub-agent", createTransferringAgent],
    ["the agent itself", (remote: RemoteAgent): RemoteAgent => remote],
    [
      "a node of a workflow",
      (remote: RemoteAgent): Workflow => new Workflow({ name: "w", edges: [["START", remote]] }),
    ],
  ])("cancels remote tasks that wait for the user: %s", async (_, parentOf) => {
    const { parent, far } = await createAgentChain(parentOf);
    const waitingTask = getTask(await parent.send("weather?"));
    expect(waitingTask.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    expect((await parent.tasks.cancel(waitingTask.id)).status.state).toBe("TASK_STATE_CANCELED");
    expect(await pollTaskStates(far, "TASK_STATE_CANCELED")).toHaveLength(1);
  });

  it("cancels running remote tasks [J6, J20]", async () => {
    const { parent, far } = await createAgentChain(createTransferringAgent);
    let id = "";
    for await (const response of parent.stream("work")) {
      if ("task" in response) ({ id } = response.task);
      if ("artifactUpdate" in response) void parent.tasks.cancel(id);
    }
    expect(await pollTaskStates(far, "TASK_STATE_CANCELED")).toHaveLength(1);
  });

  it("cancels no remote tasks of other local tasks", async () => {
    const authenticate: NonNullable<ServerOptions["authenticate"]> = ({ header }) => {
      const [, principal] = /^Bearer (\w+)$/.exec(header("authorization") ?? "") ?? [];
      return principal ? { tenant: "", principal } : undefined;
    };
    const { parent, far } = await createAgentChain(
      createTransferringAgent,
      { authenticate },
      { authenticate },
    );
    const firstTask = getTask(await parent.send("weather?"));
    const other = getTask(await parent.send("weather?"));
    await parent.tasks.cancel(firstTask.id);
    const countCanceled = async (): Promise<number> =>
      (await far.tasks.list({ status: "TASK_STATE_CANCELED" })).tasks.length;
    while ((await countCanceled()) === 0);
    expect(await countCanceled()).toBe(1);
    expect((await parent.tasks.get(other.id)).status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  });

  const parameters = z.object({});
  const approve = new LongRunningFunctionTool({
    name: "approve",
    description: "Asks a person",
    parameters,
    execute: () => ({ status: "pending" }),
  });
  /** Returns a tool that never ends. `begun` resolves when the tool has started. */
  function digging(): { dig: FunctionTool; begun: Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<void>();
    const execute = (): Promise<never> => {
      resolve();
      return new Promise(() => {});
    };
    return {
      dig: new FunctionTool({ name: "dig", description: "Digs", parameters, execute }),
      begun: promise,
    };
  }
  /** Returns an agent that calls the remote agent as a tool, and then another tool. */
  const asker = (remote: RemoteAgent, then: FunctionTool): LlmAgent =>
    new LlmAgent({
      name: "asker",
      tools: [new AgentTool({ agent: remote }), then],
      model: new ScriptedLlm(({ results: [result] }) => {
        if (!result) return { call: "remote", args: { request: "weather?" } };
        return result.name === "remote" ? { call: then.name } : "I wait.";
      }),
    });

  const inWorkflow = (node: LlmAgent): Workflow => new Workflow({ name: "w", edges: [["START", node]] });

  it.each<[string, (remote: RemoteAgent) => AdkRunnable]>([
    ["", (remote) => asker(remote, approve)],
    [" of a node", (remote) => inWorkflow(asker(remote, approve))],
  ])("cancels remote tasks of a tool%s while the local task waits", async (_, parentOf) => {
    const { parent, far } = await createAgentChain(parentOf);
    const waitingTask = getTask(await parent.send("weather?"));
    expect(waitingTask.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const { contextId } = waitingTask;
    const other = getTask(await parent.send("weather?", { contextId: `${contextId}-2` }));
    await parent.tasks.cancel(waitingTask.id);
    const countCanceled = async (): Promise<number> =>
      (await far.tasks.list({ status: "TASK_STATE_CANCELED" })).tasks.length;
    while ((await countCanceled()) === 0);
    expect(await countCanceled()).toBe(1);
    await parent.tasks.cancel(other.id);
    expect(await pollTaskStates(far, "TASK_STATE_CANCELED")).toHaveLength(2);
  });

  it.each<[string, (remote: RemoteAgent, dig: FunctionTool) => AdkRunnable]>([
    ["in a tool", asker],
    ["in a tool of a node", (remote, dig): Workflow => inWorkflow(asker(remote, dig))],
    [
      "in a parallel branch",
      (remote, dig): ParallelAgent => new ParallelAgent({ name: "both", subAgents: [remote, digger(dig)] }),
    ],
    [
      "at a parallel node",
      (remote, dig): Workflow =>
        new Workflow({
          name: "w",
          edges: [
            ["START", remote],
            ["START", digger(dig)],
          ],
        }),
    ],
  ])("cancels waiting remote tasks while the local task runs: %s", async (_, parentOf) => {
    const { dig, begun } = digging();
    const { parent, far } = await createAgentChain((remote) => parentOf(remote, dig));
    const configuration = { returnImmediately: true };
    const { id } = getTask(await parent.send("weather?", { configuration }));
    await begun;
    const isWaiting = async (): Promise<boolean> =>
      (await far.tasks.list({ status: "TASK_STATE_INPUT_REQUIRED" })).tasks.length > 0;
    while (!(await isWaiting()));
    await parent.tasks.cancel(id);
    expect(await pollTaskStates(far, "TASK_STATE_CANCELED")).toHaveLength(1);
  });

  const digger = (dig: FunctionTool): LlmAgent =>
    new LlmAgent({ name: "digger", tools: [dig], model: new ScriptedLlm([{ call: "dig" }]) });
});
