import * as grpc from "@grpc/grpc-js";
import { afterAll, beforeAll } from "vitest";
import { restDialect as oldRoutes } from "../client/transport/v0_3-dialect.ts";
import { GRPC_SERVICE_V0_3, GRPC_SERVICE_V1, type GrpcService } from "../wire/grpc/index.ts";
import { isStreamingOperation, type OperationName, type Operations } from "../protocol/index.ts";
import * as wire03 from "../wire/v0_3/index.ts";
import { createServer, type Server } from "./index.ts";
import {
  questionAskingTestAgent,
  defineOwnershipContract,
  OWNERSHIP_TEST_SERVER_OPTIONS,
  type OwnershipTestOperationParams,
  type ReceivedTestResponse,
  type OwnershipTestBindingClient,
} from "./ownership.contract.ts";

let server: Server;
let url: string;
let rawGrpcClient: grpc.Client;

beforeAll(async () => {
  server = createServer(questionAskingTestAgent, OWNERSHIP_TEST_SERVER_OPTIONS);
  const address = await server.listen({ grpc: true });
  ({ url } = address);
  rawGrpcClient = new grpc.Client(`127.0.0.1:${address.grpc?.port}`, grpc.credentials.createInsecure());
});
afterAll(async () => {
  rawGrpcClient.close();
  await server.close({ graceMs: 50 });
});

const buildHeaders = (token: string): Record<string, string> => ({
  "a2a-version": "1.0",
  "content-type": "application/json",
  authorization: `Bearer ${token}`,
});

const jsonRpcClient: OwnershipTestBindingClient = {
  name: "JSON-RPC",
  version: "1.0",
  call: async (at, method, params, token) => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    return readResponse(await fetch(at, { method: "POST", headers: buildHeaders(token), body }));
  },
};

type Route = readonly [method: "GET" | "POST" | "DELETE", path: string, asBody?: true];

const toText = (value: unknown): string => (typeof value === "string" ? value : "");

const REST_ROUTES: Record<OperationName, (params: OwnershipTestOperationParams) => Route> = {
  SendMessage: () => ["POST", "/message:send", true],
  SendStreamingMessage: () => ["POST", "/message:stream", true],
  GetTask: ({ id }) => ["GET", `/tasks/${toText(id)}?historyLength=1`],
  ListTasks: ({ contextId }) => [
    "GET",
    contextId === undefined ? "/tasks" : `/tasks?contextId=${toText(contextId)}`,
  ],
  CancelTask: ({ id }) => ["POST", `/tasks/${toText(id)}:cancel`],
  SubscribeToTask: ({ id }) => ["POST", `/tasks/${toText(id)}:subscribe`],
  GetExtendedAgentCard: () => ["GET", "/extendedAgentCard"],
  CreateTaskPushNotificationConfig: ({ taskId }) => [
    "POST",
    `/tasks/${toText(taskId)}/pushNotificationConfigs`,
    true,
  ],
  GetTaskPushNotificationConfig: ({ taskId, id }) => [
    "GET",
    `/tasks/${toText(taskId)}/pushNotificationConfigs/${toText(id)}`,
  ],
  ListTaskPushNotificationConfigs: ({ taskId }) => [
    "GET",
    `/tasks/${toText(taskId)}/pushNotificationConfigs`,
  ],
  DeleteTaskPushNotificationConfig: ({ taskId, id }) => [
    "DELETE",
    `/tasks/${toText(taskId)}/pushNotificationConfigs/${toText(id)}`,
  ],
};

const restClient: OwnershipTestBindingClient = {
  name: "HTTP+JSON",
  version: "1.0",
  call: async (at, operation, { tenant, ...params }, token) => {
    const [method, path, asBody] = REST_ROUTES[operation](params);
    const body = asBody ? { body: JSON.stringify(params) } : {};
    const within = tenant === undefined ? at : `${at}/${tenant}`;
    return readResponse(await fetch(within + path, { method, headers: buildHeaders(token), ...body }));
  },
};

/** JSON-RPC method names of 0.3 (A2A 0.3 §7). */
const V03_JSON_RPC_METHODS: Partial<
  Record<OperationName, readonly [method: string, params: (params: OwnershipTestOperationParams) => object]>
> = {
  SendMessage: ["message/send", toV03Message],
  SendStreamingMessage: ["message/stream", toV03Message],
  GetTask: ["tasks/get", ({ id }) => ({ id })],
  CancelTask: ["tasks/cancel", ({ id }) => ({ id })],
  SubscribeToTask: ["tasks/resubscribe", ({ id }) => ({ id })],
  GetExtendedAgentCard: ["agent/getAuthenticatedExtendedCard", () => ({})],
  CreateTaskPushNotificationConfig: [
    "tasks/pushNotificationConfig/set",
    ({ taskId, id, url: hook }) => ({ taskId, pushNotificationConfig: { id, url: hook } }),
  ],
  GetTaskPushNotificationConfig: ["tasks/pushNotificationConfig/get", toV03Config],
  ListTaskPushNotificationConfigs: ["tasks/pushNotificationConfig/list", ({ taskId }) => ({ id: taskId })],
  DeleteTaskPushNotificationConfig: ["tasks/pushNotificationConfig/delete", toV03Config],
};

function toV03Message({ message }: OwnershipTestOperationParams): object {
  const v0_3Message = { kind: "message", role: "user", parts: [{ kind: "text", text: "Hello" }] };
  return { message: { ...(message as object), ...v0_3Message } };
}

function toV03Config({ taskId, id }: OwnershipTestOperationParams): object {
  return { id: taskId, pushNotificationConfigId: id };
}

const v03JsonRpcClient: OwnershipTestBindingClient = {
  name: "JSON-RPC",
  version: "0.3",
  call: async (at, operation, params, token) => {
    const [method, write] = V03_JSON_RPC_METHODS[operation] ?? ["", () => ({})];
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: write(params) });
    const headers = { ...buildHeaders(token), "a2a-version": "0.3" };
    return readResponse(await fetch(at, { method: "POST", headers, body }));
  },
};

const v03RestClient: OwnershipTestBindingClient = {
  name: "HTTP+JSON",
  version: "0.3",
  call: async (at, operation, params, token) => {
    const {
      method,
      path,
      query = {},
      body,
    } = oldRoutes.encodeRequest(operation, castParams(operation, params));
    const queryParams = Object.entries(query).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}=${String(value)}`],
    );
    const headers = { ...buildHeaders(token), "a2a-version": "0.3" };
    const posted = body === undefined ? {} : { body: JSON.stringify(body) };
    return readResponse(await fetch(`${at}${path}?${queryParams.join("&")}`, { method, headers, ...posted }));
  },
};

/** Casts the JSON parameters of the contract to the parameter type of an operation. */
function castParams<O extends OperationName>(
  _: O,
  params: OwnershipTestOperationParams,
): Operations[O]["params"] {
  return params;
}

const createGrpcBindingClient = (
  version: OwnershipTestBindingClient["version"],
  { methods }: GrpcService,
  write: (operation: OperationName, params: OwnershipTestOperationParams) => object,
): OwnershipTestBindingClient => ({
  name: "gRPC",
  version,
  call: (_, operation, params, token) =>
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
          ...Object.fromEntries(entries.map(([name, value]) => [name, decodeLatin1(value)])),
        };
      };
      const call = rawGrpcClient.makeServerStreamRequest(
        method.path,
        (binary: Uint8Array) => Buffer.from(binary),
        (binary: Buffer) => JSON.stringify(method.response.decode(binary)),
        method.request.encode(write(operation, params)),
        metadata,
      );
      call.on("metadata", take);
      // The beginning of a stream is sufficient. Other responses end after one message.
      call.on("data", (answer: string) => {
        body = answer;
        if (isStreamingOperation(operation)) call.cancel();
      });
      call.on("error", () => {});
      call.on("status", ({ code, details, metadata: trailers }: grpc.StatusObject) => {
        take(trailers);
        const isCut = body !== "" && code === grpc.status.CANCELLED;
        resolve({ status: isCut ? "OK" : (grpc.status[code] ?? code), headers, body: body || details });
      });
    }),
});

function decodeLatin1(value: unknown): string {
  const text = String(value);
  // The details of an error are encoded as bytes that contain the ids.
  return /^[A-Za-z0-9+/]{40,}=*$/.test(text) ? Buffer.from(text, "base64").toString("latin1") : text;
}

async function readResponse(response: Response): Promise<ReceivedTestResponse> {
  const headers = Object.fromEntries(response.headers);
  return { status: response.status, headers, body: await readBodyStart(response) };
}

/** Returns the complete body, or the beginning of a stream. */
async function readBodyStart(response: Response): Promise<string> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return response.text();
  const reader = response.body?.getReader();
  const chunk = await reader?.read();
  await reader?.cancel();
  return new TextDecoder().decode(chunk?.value as Uint8Array | undefined);
}

const grpcClient = createGrpcBindingClient("1.0", GRPC_SERVICE_V1, (_, params) => params);
const v03GrpcClient = createGrpcBindingClient("0.3", GRPC_SERVICE_V0_3, (operation, params) =>
  wire03.protoJsonCodec.encodeParams(operation, castParams(operation, params)),
);

for (const wire of [jsonRpcClient, restClient, grpcClient, v03JsonRpcClient, v03RestClient, v03GrpcClient])
  defineOwnershipContract(wire, () => url);
