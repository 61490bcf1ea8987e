import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect, type A2AClient } from "../../src/client/index.ts";
import type { Agent, AgentEvent, Run } from "../../src/engine/index.ts";
import { A2AError, getText, type Task, type TaskState } from "../../src/protocol/index.ts";
import { createServer, type Server } from "../../src/server/index.ts";
import { createTempFolder } from "../support/store-factories.ts";

const BINDINGS = ["JSONRPC", "HTTP+JSON", "GRPC"] as const;

/**
 * The first message names the state in which the agent waits, and whether the agent waits within its turn. The turn of
 * a later message never ends, so that a response that waited for the turn would never arrive.
 */
const waitingAgent: Agent = {
  describe: () => ({ name: "waiting", description: "Waits in any state." }),
  async *execute({ task, message, signal }: Run): AsyncGenerator<AgentEvent> {
    const [state, isWithinTurn] = getText(message.parts).split(" ");
    const isLater = (task.history?.length ?? 0) > 1;
    if (!isLater) yield { status: { state: state as "TASK_STATE_WORKING" } };
    if (isLater || isWithinTurn)
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
  },
};

const AGENTS: Record<string, Agent> = {
  delivering: { ...waitingAgent, deliver: () => true },
  queueing: { ...waitingAgent, whileWorking: "queue" },
  refusing: waitingAgent,
};

/** The first message, the state in which the task waits, and the result for each agent. */
const SITUATIONS: readonly [string, TaskState, Record<keyof typeof AGENTS, string>][] = [
  [
    "TASK_STATE_WORKING within",
    "TASK_STATE_WORKING",
    { delivering: "task", queueing: "task", refusing: "UNSUPPORTED_OPERATION" },
  ],
  [
    "TASK_STATE_INPUT_REQUIRED within",
    "TASK_STATE_INPUT_REQUIRED",
    { delivering: "task", queueing: "task", refusing: "task" },
  ],
  [
    "TASK_STATE_AUTH_REQUIRED within",
    "TASK_STATE_AUTH_REQUIRED",
    { delivering: "task", queueing: "task", refusing: "task" },
  ],
  [
    "TASK_STATE_INPUT_REQUIRED",
    "TASK_STATE_INPUT_REQUIRED",
    { delivering: "task", queueing: "task", refusing: "task" },
  ],
  [
    "TASK_STATE_AUTH_REQUIRED",
    "TASK_STATE_AUTH_REQUIRED",
    { delivering: "task", queueing: "task", refusing: "task" },
  ],
  [
    "TASK_STATE_COMPLETED",
    "TASK_STATE_COMPLETED",
    {
      delivering: "UNSUPPORTED_OPERATION",
      queueing: "UNSUPPORTED_OPERATION",
      refusing: "UNSUPPORTED_OPERATION",
    },
  ],
];

const CELLS = BINDINGS.flatMap((binding) =>
  Object.keys(AGENTS).flatMap((agent) =>
    SITUATIONS.map(([first, state, expected]) => ({
      binding,
      agent,
      first,
      state,
      expected: expected[agent]!,
    })),
  ),
);

describe("a message with returnImmediately to a task in a SQLite file, over a socket", () => {
  let server: Server;
  let removeFolder: () => Promise<void>;
  const clients = new Map<string, A2AClient>();

  beforeAll(async () => {
    const { folder, remove } = await createTempFolder();
    removeFolder = remove;
    server = createServer(AGENTS, { store: `sqlite:${folder}/tasks.db` });
    const { url } = await server.listen({ grpc: true });
    for (const binding of BINDINGS)
      for (const agent of Object.keys(AGENTS))
        clients.set(`${agent} ${binding}`, await connect(`${url}/a2a/${agent}`, { binding }));
  });
  afterAll(async () => {
    await server.close({ graceMs: 50 });
    await removeFolder();
  });

  async function createTask(client: A2AClient, first: string, state: TaskState): Promise<string> {
    const configuration = { returnImmediately: true };
    const { id } = ((await client.send(first, { configuration })) as { task: Task }).task;
    for (;;) if ((await client.tasks.get(id)).status.state === state) return id;
  }

  it.for(CELLS)(
    "$binding, $agent, $first: $expected before the turn ends [F-02]",
    async ({ binding, agent, first, state, expected }) => {
      const client = clients.get(`${agent} ${binding}`) as A2AClient;
      const taskId = await createTask(client, first, state);
      const answer = await client
        .send("here is my token", { taskId, configuration: { returnImmediately: true } })
        .catch((error: unknown) => error);
      expect(answer instanceof A2AError ? answer.reason : Object.keys(answer as object)[0]).toBe(expected);
    },
  );
});
