import { afterAll, beforeAll } from "vitest";
import type { OperationName } from "../protocol/index.ts";
import { createServer, type Server } from "./index.ts";
import {
  curious,
  ownershipContract,
  OPTIONS,
  type Params,
  type Told,
  type Wire,
} from "./ownership.contract.ts";

let server: Server;
let url: string;

beforeAll(async () => {
  server = createServer(curious, OPTIONS);
  ({ url } = await server.listen());
});
afterAll(() => server.close({ graceMs: 50 }));

const headersOf = (token: string): Record<string, string> => ({
  "a2a-version": "1.0",
  "content-type": "application/json",
  authorization: `Bearer ${token}`,
});

const jsonRpc: Wire = {
  name: "JSON-RPC",
  ask: async (at, method, params, token) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    return read(await fetch(at, { method: "POST", headers: headersOf(token), body }));
  },
};

type Route = readonly [method: "GET" | "POST" | "DELETE", path: string, asBody?: true];

const text = (value: unknown): string => (typeof value === "string" ? value : "");

const ROUTES: Record<OperationName, (params: Params) => Route> = {
  SendMessage: () => ["POST", "/message:send", true],
  SendStreamingMessage: () => ["POST", "/message:stream", true],
  GetTask: ({ id }) => ["GET", `/tasks/${text(id)}?historyLength=1`],
  ListTasks: ({ contextId }) => [
    "GET",
    contextId === undefined ? "/tasks" : `/tasks?contextId=${text(contextId)}`,
  ],
  CancelTask: ({ id }) => ["POST", `/tasks/${text(id)}:cancel`],
  SubscribeToTask: ({ id }) => ["POST", `/tasks/${text(id)}:subscribe`],
  GetExtendedAgentCard: () => ["GET", "/extendedAgentCard"],
  CreateTaskPushNotificationConfig: ({ taskId }) => [
    "POST",
    `/tasks/${text(taskId)}/pushNotificationConfigs`,
    true,
  ],
  GetTaskPushNotificationConfig: ({ taskId, id }) => [
    "GET",
    `/tasks/${text(taskId)}/pushNotificationConfigs/${text(id)}`,
  ],
  ListTaskPushNotificationConfigs: ({ taskId }) => ["GET", `/tasks/${text(taskId)}/pushNotificationConfigs`],
  DeleteTaskPushNotificationConfig: ({ taskId, id }) => [
    "DELETE",
    `/tasks/${text(taskId)}/pushNotificationConfigs/${text(id)}`,
  ],
};

const rest: Wire = {
  name: "HTTP+JSON",
  ask: async (at, operation, { tenant, ...params }, token) => {
    const [method, path, asBody] = ROUTES[operation](params);
    const body = asBody ? { body: JSON.stringify(params) } : {};
    const within = tenant === undefined ? at : `${at}/${tenant}`;
    return read(await fetch(within + path, { method, headers: headersOf(token), ...body }));
  },
};

async function read(response: Response): Promise<Told> {
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await begin(response) };
}

/** The whole body, or the beginning of a stream. */
async function begin(response: Response): Promise<string> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response.text();
  const reader = response.body?.getReader();
  const chunk = await reader?.read();
  await reader?.cancel();
  return new TextDecoder().decode(chunk?.value as Uint8Array | undefined);
}

for (const wire of [jsonRpc, rest]) ownershipContract(wire, () => url);
