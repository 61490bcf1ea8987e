/** Runs the server that the fuzzers call: both versions, all bindings, the simple dialect, the façade, and MCP. */
import { setTimeout } from "node:timers/promises";
import { serveParentProcessCalls } from "../../bench/child-process-rpc.ts";
import { agent, inputRequired } from "../../../src/agents/adapters/index.ts";
import { createMcpServer } from "../../../src/agents/mcp/index.ts";
import { createOpenAiFacade } from "../../../src/agents/openai-facade/index.ts";
import { createServer, type MountedHandler } from "../../../src/server/index.ts";
import type { FuzzPlaceholders } from "../fuzz/fuzz-request.ts";
import { ProcessFaultRecorder } from "./process-faults.ts";

export type FuzzedServerMethods = {
  getPorts(): { readonly http: number; readonly grpc: number };
  /** Creates a finished, a waiting, and a running task, and a session of MCP 2025. */
  createPlaceholders(): Promise<FuzzPlaceholders>;
  /** Returns unhandled errors of the process and reported errors of the server since the last call. */
  takeFaults(): string[];
};

const faults = new ProcessFaultRecorder();
const onError = ({ where, error }: { where: string; error: unknown }): void =>
  faults.record(`error of the server in ${where}`, error);

/** Time in milliseconds for which the agent works on the text "work". */
const WORK_MS = 20_000;
const RETRY_MS = 1000;

/** Repeats the message. Waits for more input after "ask", and works for `WORK_MS` after "work". */
const echo = agent(
  {
    name: "echo",
    description: "Repeats the message",
    capabilities: { extendedAgentCard: true },
    skills: [{ id: "repeat", name: "Repeat", description: "Repeats the message", tags: ["test"] }],
  },
  async function* ({ text, signal }) {
    if (text === "work") await setTimeout(WORK_MS, undefined, { signal });
    if (text === "ask") yield inputRequired("What?");
    else yield text;
  },
);
const mcp = await createMcpServer({ echo }, { observer: { onError }, taskAfterMs: 0 });
const mcpHandler: MountedHandler = {
  matchesPath: (path) => path === "/mcp",
  handle: (request) => mcp.fetch(request),
};
const server = createServer(
  { echo },
  {
    store: "memory",
    retention: { maxFinishedTasks: 1000, sweepIntervalMs: 1000 },
    mountedHandlers: [createOpenAiFacade({ observer: { onError } }), mcpHandler],
    observer: { onError },
  },
);
const address = await server.listen({ grpc: true });

serveParentProcessCalls({
  getPorts: () => ({ http: address.port, grpc: address.grpc?.port ?? 0 }),
  async createPlaceholders() {
    const [done, waiting, working, session] = await Promise.all([
      createTask("done"),
      createTask("ask"),
      createTask("work"),
      createMcpSession(),
    ]);
    await postJson(`${address.url}/tasks/${waiting}/pushNotificationConfigs`, {
      id: "p-1",
      url: "https://example.com/hook",
    });
    return { $DONE: done, $WAITING: waiting, $WORKING: working, $MCP_SESSION: session };
  },
  takeFaults: () => faults.take(),
} satisfies FuzzedServerMethods);

async function createTask(text: string): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const response = await postJson(`${address.url}/message:send`, {
      message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] },
      configuration: { returnImmediately: text === "work" },
    });
    const body = await response.text();
    const { task } = JSON.parse(body) as { task?: { id: string } };
    if (task) return task.id;
    // Earlier inputs have started so many agents that the share of this address is used up.
    if (response.status !== 429 || attempt * RETRY_MS > 2 * WORK_MS)
      throw new Error(`the fuzzed server did not create a task for ${text}: ${body}`);
    await setTimeout(RETRY_MS);
  }
}

async function createMcpSession(): Promise<string> {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "fuzzer", version: "1" },
  };
  const response = await postJson(`${address.url}/mcp`, {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params,
  });
  return response.headers.get("mcp-session-id") ?? "none";
}

function postJson(url: string, body: unknown): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "a2a-version": "1.0",
    },
    body: JSON.stringify(body),
  });
}
