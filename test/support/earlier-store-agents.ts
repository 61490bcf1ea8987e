import type { ServerOptions } from "../../src/server/index.ts";

type Adapters = typeof import("../../src/agents/adapters/index.ts");
type Agents = Record<string, ReturnType<Adapters["agent"]>>;

export const EARLIER_STORE_CALLERS = ["alice", "bob"] as const;

/** Server options of the stores in vectors/earlier-stores, without the store. */
export const EARLIER_STORE_SERVER_OPTIONS: ServerOptions = {
  push: { allowPrivate: true },
  authenticate: (request) => ({ tenant: "", principal: request.header("x-user") ?? "" }),
};

/** Creates the agents of the stores in vectors/earlier-stores, with the adapters of any commit. */
export function createEarlierStoreAgents({ agent, inputRequired }: Adapters): Agents {
  return {
    echo: agent({ name: "Echo", description: "Repeats" }, async function* ({ text }) {
      if (text === "fail") throw new Error("fails");
      yield "Repeated: ";
      yield text === "large" ? "0123456789abcdef".repeat(1100) : text;
    }),
    ask: agent({ name: "Ask", description: "Asks" }, async function* ({ text }) {
      yield inputRequired(`What about ${text}?`);
    }),
    hang: agent({ name: "Hang", description: "Never ends" }, async function* ({ signal }) {
      yield "started";
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
    }),
  };
}

/** Calls an A2A 1.0 method over JSON-RPC. Resolves with the result, and rejects for an error. */
export async function callEarlierStoreAgent(
  url: string,
  caller: string,
  method: string,
  params: object,
): Promise<unknown> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", "x-user": caller },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const { result, error } = (await response.json()) as { result?: unknown; error?: unknown };
  if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`);
  return result;
}

interface TaskList {
  readonly tasks: readonly { readonly id: string; readonly contextId: string }[];
}

/** Reads all tasks, lists, and webhooks by agent and caller. */
export async function readEarlierStoreResponses(
  urls: Readonly<Record<string, string>>,
): Promise<Record<string, unknown>> {
  const responses: Record<string, unknown> = {};
  for (const [agentId, url] of Object.entries(urls)) {
    for (const caller of EARLIER_STORE_CALLERS) {
      const call = (method: string, params: object): Promise<unknown> =>
        callEarlierStoreAgent(url, caller, method, params);
      // The server ends the running turns when it opens the store again.
      if (agentId === "hang") continue;
      const all = (await call("ListTasks", {})) as TaskList;
      const first = all.tasks[0]!;
      responses[`${agentId} of ${caller}`] = {
        all,
        inContext: await call("ListTasks", { contextId: first.contextId }),
        completed: await call("ListTasks", { status: "TASK_STATE_COMPLETED" }),
        rejected: await call("ListTasks", { status: "TASK_STATE_REJECTED" }),
        tasks: await Promise.all(all.tasks.map(({ id }) => call("GetTask", { id }))),
        webhooks: await Promise.all(
          all.tasks.map(({ id }) => call("ListTaskPushNotificationConfigs", { taskId: id })),
        ),
      };
    }
  }
  return responses;
}
