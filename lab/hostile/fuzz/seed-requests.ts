import type { FuzzSurface, SeedRequest } from "./fuzz-request.ts";

const JSON_HEADERS = { "content-type": "application/json" };
const V1_HEADERS = { ...JSON_HEADERS, "a2a-version": "1.0" };
const V03_HEADERS = { ...JSON_HEADERS, "a2a-version": "0.3" };
/** Headers of hosts of MCP 2026, whose requests need no session. */
const MCP_HEADERS = {
  ...JSON_HEADERS,
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
};
/** Headers of hosts of MCP 2025. */
const MCP_2025_HEADERS = {
  ...JSON_HEADERS,
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2025-11-25",
  "mcp-session-id": "$MCP_SESSION",
};

const V1_MESSAGE = {
  messageId: "$UNIQUE",
  contextId: "c-1",
  role: "ROLE_USER",
  parts: [
    { text: "hello", mediaType: "text/plain", metadata: { a: 1 } },
    { data: { deep: [1, { x: null }] } },
    { raw: "aGVsbG8=", filename: "hello.txt", mediaType: "text/plain" },
    { url: "https://example.com/file", mediaType: "text/plain" },
  ],
  metadata: { trace: "t" },
  extensions: ["https://example.com/extension"],
  referenceTaskIds: ["$DONE"],
};
const V1_CONFIGURATION = { acceptedOutputModes: ["text/plain"], historyLength: 2, returnImmediately: false };
const V1_PUSH_CONFIG = {
  taskId: "$WAITING",
  id: "p-1",
  url: "https://example.com/hook",
  token: "secret",
  authentication: { scheme: "Bearer", credentials: "abc" },
};
/** Valid parameters of the operations of A2A 1.0. */
export const V1_PARAMS: Readonly<Record<string, unknown>> = {
  SendMessage: { message: V1_MESSAGE, configuration: V1_CONFIGURATION, metadata: { b: 2 }, tenant: "" },
  SendStreamingMessage: { message: { ...V1_MESSAGE, taskId: "$WAITING" }, configuration: V1_CONFIGURATION },
  GetTask: { id: "$DONE", historyLength: 1 },
  ListTasks: {
    contextId: "c-1",
    status: "TASK_STATE_COMPLETED",
    pageSize: 5,
    pageToken: "",
    historyLength: 1,
    statusTimestampAfter: "2026-01-01T00:00:00Z",
    includeArtifacts: true,
  },
  CancelTask: { id: "$WORKING", metadata: { why: "test" } },
  SubscribeToTask: { id: "$WAITING" },
  GetExtendedAgentCard: {},
  CreateTaskPushNotificationConfig: V1_PUSH_CONFIG,
  GetTaskPushNotificationConfig: { taskId: "$WAITING", id: "p-1" },
  ListTaskPushNotificationConfigs: { taskId: "$WAITING", pageSize: 2, pageToken: "" },
  DeleteTaskPushNotificationConfig: { taskId: "$WAITING", id: "p-1" },
};

const V03_MESSAGE = {
  kind: "message",
  messageId: "$UNIQUE",
  contextId: "c-1",
  role: "user",
  parts: [
    { kind: "text", text: "hello", metadata: { a: 1 } },
    { kind: "data", data: { x: [1] } },
    { kind: "file", file: { bytes: "aGVsbG8=", name: "hello.txt", mimeType: "text/plain" } },
    { kind: "file", file: { uri: "https://example.com/file", mimeType: "text/plain" } },
  ],
  metadata: { trace: "t" },
};
const V03_CONFIGURATION = { acceptedOutputModes: ["text/plain"], historyLength: 2, blocking: true };
const V03_PUSH_CONFIG = {
  taskId: "$WAITING",
  pushNotificationConfig: {
    id: "p-1",
    url: "https://example.com/hook",
    token: "secret",
    authentication: { schemes: ["Bearer"], credentials: "abc" },
  },
};
const V03_PARAMS: Readonly<Record<string, unknown>> = {
  "message/send": { message: V03_MESSAGE, configuration: V03_CONFIGURATION, metadata: { b: 2 } },
  "message/stream": { message: { ...V03_MESSAGE, taskId: "$WAITING" }, configuration: V03_CONFIGURATION },
  "tasks/get": { id: "$DONE", historyLength: 1 },
  "tasks/cancel": { id: "$WORKING", metadata: {} },
  "tasks/resubscribe": { id: "$WAITING" },
  "tasks/pushNotificationConfig/set": V03_PUSH_CONFIG,
  "tasks/pushNotificationConfig/get": { id: "$WAITING", pushNotificationConfigId: "p-1" },
  "tasks/pushNotificationConfig/list": { id: "$WAITING" },
  "tasks/pushNotificationConfig/delete": { id: "$WAITING", pushNotificationConfigId: "p-1" },
  "agent/getAuthenticatedExtendedCard": {},
};
const V03_PROTO_MESSAGE = {
  message: {
    messageId: "$UNIQUE",
    role: "ROLE_USER",
    content: [{ text: "hello" }, { data: { data: { x: 1 } } }],
  },
  configuration: { blocking: true },
};

/** Valid parameters of the gRPC methods of A2A 0.3. */
export const V03_PROTO_PARAMS: Readonly<Record<string, unknown>> = {
  SendMessage: V03_PROTO_MESSAGE,
  SendStreamingMessage: V03_PROTO_MESSAGE,
  GetTask: { name: "tasks/$DONE", historyLength: 1 },
  CancelTask: { name: "tasks/$WORKING" },
  SubscribeToTask: { name: "tasks/$WAITING" },
  CreateTaskPushNotificationConfig: {
    parent: "tasks/$WAITING",
    configId: "p-1",
    config: {
      name: "tasks/$WAITING/pushNotificationConfigs/p-1",
      pushNotificationConfig: { id: "p-1", url: "https://example.com/hook" },
    },
  },
  GetTaskPushNotificationConfig: { name: "tasks/$WAITING/pushNotificationConfigs/p-1" },
  ListTaskPushNotificationConfigs: { parent: "tasks/$WAITING" },
};

const SIMPLE_PARAMS: Readonly<Record<string, unknown>> = {
  "tasks/create": { skill: "repeat", input: { query: "hello", depth: [1] } },
  "tasks/get": { taskId: "$DONE" },
  "message/send": {
    messageId: "$UNIQUE",
    message: { role: "user", parts: [{ kind: "text", text: "hello" }], metadata: {} },
    thread: { threadId: "c-1" },
    metadata: {},
  },
  "message/stream": {
    message: { role: "user", parts: [{ kind: "text", text: "hello" }] },
    taskId: "$WAITING",
  },
};

const MCP_CALL = { name: "echo_repeat", arguments: { message: "hello" }, _meta: { progressToken: 1 } };
const MCP_2025_PARAMS: Readonly<Record<string, unknown>> = {
  initialize: {
    protocolVersion: "2025-11-25",
    capabilities: { elicitation: {} },
    clientInfo: { name: "fuzzer", version: "1" },
  },
  "tools/list": { cursor: "" },
  "tools/call": MCP_CALL,
  ping: {},
  "notifications/initialized": {},
  "notifications/cancelled": { requestId: 1, reason: "x" },
};
const MCP_PARAMS: Readonly<Record<string, unknown>> = {
  "server/discover": {},
  "tools/list": { cursor: "" },
  "tools/call": MCP_CALL,
  "tasks/get": { taskId: "$DONE" },
  "tasks/cancel": { taskId: "$WORKING" },
  "tasks/update": { taskId: "$WAITING", inputResponses: {} },
  "subscriptions/listen": { notifications: { toolsListChanged: true } },
};
/** The metadata that hosts of MCP 2026 send with each request. */
const MCP_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "fuzzer", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

const CHAT_REQUEST = {
  model: "echo",
  messages: [
    { role: "system", content: "Be brief." },
    {
      role: "user",
      content: [
        { type: "text", text: "hello" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
      ],
    },
    { role: "assistant", content: "hi", tool_calls: [] },
    { role: "user", content: "again" },
  ],
  stream: false,
  stream_options: { include_usage: true },
  max_tokens: 5,
  n: 1,
  user: "u",
  metadata: { context_id: "c-1" },
};

/** Valid requests of all APIs of a server. The mutations of the fuzzer start from these. */
export const SEED_REQUESTS: readonly SeedRequest[] = [
  ...createJsonRpcSeeds("v1 JSON-RPC", V1_PARAMS, V1_HEADERS, "/a2a/echo"),
  ...createJsonRpcSeeds("v0.3 JSON-RPC", V03_PARAMS, V03_HEADERS, "/a2a/echo"),
  ...createJsonRpcSeeds("simple dialect", SIMPLE_PARAMS, JSON_HEADERS, "/a2a/echo"),
  ...createRestSeeds("v1 REST", V1_HEADERS, "/a2a/echo", {
    "POST /message:send": V1_PARAMS["SendMessage"],
    "POST /message:stream": V1_PARAMS["SendStreamingMessage"],
    "GET /tasks/$DONE?historyLength=1": undefined,
    "GET /tasks?contextId=c-1&status=TASK_STATE_COMPLETED&pageSize=5&pageToken=&includeArtifacts=true":
      undefined,
    "POST /tasks/$WORKING:cancel": {},
    "GET /tasks/$WAITING:subscribe": undefined,
    "GET /extendedAgentCard": undefined,
    "POST /tasks/$WAITING/pushNotificationConfigs": V1_PUSH_CONFIG,
    "GET /tasks/$WAITING/pushNotificationConfigs?pageSize=1": undefined,
    "GET /tasks/$WAITING/pushNotificationConfigs/p-1": undefined,
    "DELETE /tasks/$WAITING/pushNotificationConfigs/p-1": undefined,
    "GET /tenant-1/tasks/$DONE": undefined,
  }),
  ...createRestSeeds("v0.3 REST", V03_HEADERS, "/a2a/echo/v1", {
    "POST /message:send": V03_PROTO_MESSAGE,
    "POST /message:stream": V03_PROTO_MESSAGE,
    "GET /tasks/$DONE?historyLength=1": undefined,
    "POST /tasks/$WORKING:cancel": {},
    "GET /tasks/$WAITING:subscribe": undefined,
    "GET /card": undefined,
    "POST /tasks/$WAITING/pushNotificationConfigs": {
      configId: "p-1",
      config: { pushNotificationConfig: V03_PUSH_CONFIG.pushNotificationConfig },
    },
    "GET /tasks/$WAITING/pushNotificationConfigs": undefined,
    "DELETE /tasks/$WAITING/pushNotificationConfigs/p-1": undefined,
  }),
  ...createRestSeeds("simple dialect", JSON_HEADERS, "/a2a/echo", {
    "GET /tasks/$DONE/events": undefined,
    "GET /.well-known/agent-card.json?assistant_id=echo": undefined,
  }),
  ...createRestSeeds("OpenAI façade", JSON_HEADERS, "/v1", {
    "POST /chat/completions": CHAT_REQUEST,
    "GET /models": undefined,
    "GET /models/echo": undefined,
  }),
  {
    surface: "OpenAI façade",
    method: "POST",
    path: "/v1/chat/completions",
    headers: JSON_HEADERS,
    body: { ...CHAT_REQUEST, stream: true },
  },
  ...createJsonRpcSeeds("MCP", MCP_2025_PARAMS, MCP_2025_HEADERS, "/mcp"),
  ...createJsonRpcSeeds("MCP", addMcpMeta(MCP_PARAMS), MCP_HEADERS, "/mcp"),
  ...createRestSeeds("agent card", { "a2a-version": "1.0", "if-none-match": '"x"' }, "", {
    "GET /a2a/echo/.well-known/agent-card.json": undefined,
    "GET /.well-known/agent.json": undefined,
    "GET /a2a": undefined,
    "GET /healthz": undefined,
    "GET /readyz": undefined,
  }),
];

function createJsonRpcSeeds(
  surface: FuzzSurface,
  paramsByMethod: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>>,
  path: string,
): SeedRequest[] {
  return Object.entries(paramsByMethod).map(([method, params]) => ({
    surface,
    method: "POST",
    path,
    headers:
      surface === "MCP" ? { ...headers, "mcp-method": method, ...createMcpNameHeader(params) } : headers,
    body: { jsonrpc: "2.0", id: 1, method, params },
  }));
}

/** Returns the header in which hosts of MCP 2026 repeat the name of a tool or the id of a task. */
function createMcpNameHeader(params: unknown): Record<string, string> {
  const { name, taskId } = params as { name?: string; taskId?: string };
  const value = name ?? taskId;
  return value === undefined ? {} : { "mcp-name": value };
}

/** Creates seeds from a record that maps `METHOD path` to a body. */
function createRestSeeds(
  surface: FuzzSurface,
  headers: Readonly<Record<string, string>>,
  basePath: string,
  bodiesByRoute: Readonly<Record<string, unknown>>,
): SeedRequest[] {
  return Object.entries(bodiesByRoute).map(([route, body]) => {
    const [method = "", path = ""] = route.split(" ");
    return { surface, method, path: basePath + path, headers, ...(body === undefined ? {} : { body }) };
  });
}

function addMcpMeta(paramsByMethod: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(paramsByMethod).map(([method, params]) => [
      method,
      { ...(params as object), _meta: MCP_META },
    ]),
  );
}
