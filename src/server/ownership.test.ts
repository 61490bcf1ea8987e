import * as grpc from "@grpc/grpc-js";
import { afterAll, beforeAll } from "vitest";
import { rest as oldRoutes } from "../client/transport/v0_3.ts";
import { v0_3, v1, type Service } from "../grpc/index.ts";
import { isStreaming, type OperationName, type Operations } from "../protocol/index.ts";
import { v0_3 as wire03 } from "../wire/index.ts";
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
let client: grpc.Client;

beforeAll(async () => {
  server = createServer(curious, OPTIONS);
  const address = await server.listen({ grpc: true });
  ({ url } = address);
  client = new grpc.Client(`127.0.0.1:${address.grpc?.port}`, grpc.credentials.createInsecure());
});
afterAll(async () => {
  client.close();
  await server.close({ graceMs: 50 });
});

const headersOf = (token: string): Record<string, string> => ({
  "a2a-version": "1.0",
  "content-type": "application/json",
  authorization: `Bearer ${token}`,
});

const jsonRpc: Wire = {
  name: "JSON-RPC",
  version: "1.0",
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
  version: "1.0",
  ask: async (at, operation, { tenant, ...params }, token) => {
    const [method, path, asBody] = ROUTES[operation](params);
    const body = asBody ? { body: JSON.stringify(params) } : {};
    const within = tenant === undefined ? at : `${at}/${tenant}`;
    return read(await fetch(within + path, { method, headers: headersOf(token), ...body }));
  },
};

/** As 0.3 writes it (A2A 0.3 §7). */
const OLD: Partial<Record<OperationName, readonly [method: string, params: (params: Params) => object]>> = {
  SendMessage: ["message/send", oldMessage],
  SendStreamingMessage: ["message/stream", oldMessage],
  GetTask: ["tasks/get", ({ id }) => ({ id })],
  CancelTask: ["tasks/cancel", ({ id }) => ({ id })],
  SubscribeToTask: ["tasks/resubscribe", ({ id }) => ({ id })],
  GetExtendedAgentCard: ["agent/getAuthenticatedExtendedCard", () => ({})],
  CreateTaskPushNotificationConfig: [
    "tasks/pushNotificationConfig/set",
    ({ taskId, id, url: hook }) => ({ taskId, pushNotificationConfig: { id, url: hook } }),
  ],
  GetTaskPushNotificationConfig: ["tasks/pushNotificationConfig/get", oldConfig],
  ListTaskPushNotificationConfigs: ["tasks/pushNotificationConfig/list", ({ taskId }) => ({ id: taskId })],
  DeleteTaskPushNotificationConfig: ["tasks/pushNotificationConfig/delete", oldConfig],
};

function oldMessage({ message }: Params): object {
  const said = { kind: "message", role: "user", parts: [{ kind: "text", text: "Hello" }] };
  return { message: { ...(message as object), ...said } };
}

function oldConfig({ taskId, id }: Params): object {
  return { id: taskId, pushNotificationConfigId: id };
}

const oldJsonRpc: Wire = {
  name: "JSON-RPC",
  version: "0.3",
  ask: async (at, operation, params, token) => {
    const [method, write] = OLD[operation] ?? ["", () => ({})];
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: write(params) });
    const headers = { ...headersOf(token), "a2a-version": "0.3" };
    return read(await fetch(at, { method: "POST", headers, body }));
  },
};

const oldRest: Wire = {
  name: "HTTP+JSON",
  version: "0.3",
  ask: async (at, operation, params, token) => {
    const { method, path, query = {}, body } = oldRoutes.toRoute(operation, paramsOf(operation, params));
    const asked = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${String(value)}`],
    );
    const headers = { ...headersOf(token), "a2a-version": "0.3" };
    const posted = body === undefined ? {} : { body: JSON.stringify(body) };
    return read(await fetch(`${at}${path}?${asked.join("&")}`, { method, headers, ...posted }));
  },
};

/** What the contract asks with is written as JSON has it, which the types of an operation say more closely. */
function paramsOf<O extends OperationName>(_: O, params: Params): Operations[O]["params"] {
  return params;
}

const grpcWire = (
  version: Wire["version"],
  { methods }: Service,
  write: (operation: OperationName, params: Params) => object,
): Wire => ({
  name: "gRPC",
  version,
  ask: (_, operation, params, token) =>
    new Promise((resolve) => {
      const method = methods[operation];
      if (!method) throw new Error(`gRPC has no ${operation}`);
      const metadata = new grpc.Metadata();
      metadata.set("authorization", `Bearer ${token}`);
      let headers: Record<string, string> = {};
      let body = "";
      const take = (more: grpc.Metadata): void => {
        const entries = Object.entries(more.toHttp2Headers());
        headers = {
          ...headers,
          ...Object.fromEntries(entries.map(([name, value]) => [name, latin1(value)])),
        };
      };
      const call = client.makeServerStreamRequest(
        method.path,
        (binary: Uint8Array) => Buffer.from(binary),
        (binary: Buffer) => JSON.stringify(method.response.decode(binary)),
        method.request.encode(write(operation, params)),
        metadata,
      );
      call.on("metadata", take);
      // Of a stream the beginning is enough; what has but one answer ends by itself.
      call.on("data", (answer: string) => {
        body = answer;
        if (isStreaming(operation)) call.cancel();
      });
      call.on("error", () => {});
      call.on("status", ({ code, details, metadata: trailers }: grpc.StatusObject) => {
        take(trailers);
        const isCut = body !== "" && code === grpc.status.CANCELLED;
        resolve({ status: isCut ? "OK" : (grpc.status[code] ?? code), headers, body: body || details });
      });
    }),
});

function latin1(value: unknown): string {
  const text = String(value);
  // The details of an error are bytes, and have the ids in them.
  return /^[A-Za-z0-9+/]{40,}=*$/.test(text) ? Buffer.from(text, "base64").toString("latin1") : text;
}

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

const overGrpc = grpcWire("1.0", v1, (_, params) => params);
const oldOverGrpc = grpcWire("0.3", v0_3, (operation, params) =>
  wire03.protoJson.encodeParams(operation, paramsOf(operation, params)),
);

for (const wire of [jsonRpc, rest, overGrpc, oldJsonRpc, oldRest, oldOverGrpc])
  ownershipContract(wire, () => url);
