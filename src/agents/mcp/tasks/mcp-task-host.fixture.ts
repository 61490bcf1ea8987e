import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  createTaskSessionFromClient,
  type ApplicationElicitResult,
  type JsonRpcResponse,
  type TaskEnabledSession,
} from "@modelcontextprotocol/ext-tasks/client";
import {
  CancelTaskResultV2Schema,
  CreateTaskResultV2Schema,
  GetTaskResultV2Schema,
  TaskStatusNotificationV2Schema,
  UpdateTaskResultV2Schema,
} from "@modelcontextprotocol/ext-tasks/core/v2";

const PROTOCOL_VERSION = "2026-07-28";
const CLIENT_INFO = { name: "host", version: "1" };

/** Answers a question for the host's user. A host without such a function does not support elicitation. */
export type TaskQuestionResponder = (question: string) => ApplicationElicitResult;

/** A host that uses MCP Tasks through the official packages. */
export interface McpTaskHost {
  readonly session: TaskEnabledSession;
  /** Sends a JSON-RPC request as the host, with the host's declared capabilities. */
  request(method: string, params: object): Promise<JsonRpcResponse>;
  /** Subscribes to tasks, and yields each message of the stream. */
  listen(notifications: object, signal?: AbortSignal): AsyncGenerator<McpStreamMessage, void, undefined>;
  close(): Promise<void>;
}

/** A message on the stream of a subscription, or an error response. */
export interface McpStreamMessage {
  readonly method?: string;
  readonly params?: { readonly [member: string]: unknown };
  readonly result?: object;
  readonly error?: object;
}

/** Options for `connectMcpTaskHost`. */
export interface McpTaskHostOptions {
  readonly respond?: TaskQuestionResponder;
  /** Whether requests declare the MCP Tasks extension. Default: true. */
  readonly declaresTasks?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sends all requests, for example to a server of the same process. Default: the global `fetch`. */
  readonly fetch?: (input: string | URL, init?: RequestInit) => Promise<Response>;
}

/** Schemas of the official package for the results of MCP Tasks, by method or by result type. */
const RESULT_SCHEMAS = {
  task: CreateTaskResultV2Schema,
  "tasks/get": GetTaskResultV2Schema,
  "tasks/update": UpdateTaskResultV2Schema,
  "tasks/cancel": CancelTaskResultV2Schema,
};

/**
 * Connects a host to a streamable HTTP endpoint. `@modelcontextprotocol/ext-tasks` requires a function that
 * sends task requests, because the SDK's client rejects task results. The function validates each task result
 * with the official schema.
 */
export async function connectMcpTaskHost(
  url: string,
  { respond, declaresTasks = true, headers = {}, fetch: sendHttp = fetch }: McpTaskHostOptions = {},
): Promise<McpTaskHost> {
  const elicitation = respond ? { elicitation: { form: {} } } : {};
  const extensions = { "io.modelcontextprotocol/tasks": {} };
  const clientCapabilities = { ...elicitation, ...(declaresTasks ? { extensions } : {}) };
  const client = new Client(CLIENT_INFO, {
    versionNegotiation: { mode: { pin: PROTOCOL_VERSION } },
    capabilities: clientCapabilities,
  });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers }, fetch: sendHttp }),
  );
  let lastId = 0;
  const post = (method: string, params: Record<string, unknown>, signal?: AbortSignal): Promise<Response> => {
    const name = params["taskId"] ?? params["name"];
    return sendHttp(url, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": PROTOCOL_VERSION,
        "mcp-method": method,
        ...(typeof name === "string" ? { "mcp-name": name } : {}),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: `${++lastId}`, method, params }),
      ...(signal ? { signal } : {}),
    });
  };
  const send = async (method: string, params: Record<string, unknown>): Promise<JsonRpcResponse> => {
    const response = await post(method, params);
    const { result, error } = (await response.json()) as { result?: never; error?: never };
    if (error) return { kind: "error", error };
    const resultType: unknown = (result as unknown as { resultType?: unknown }).resultType;
    const key = resultType === "task" ? "task" : method;
    if (key in RESULT_SCHEMAS) RESULT_SCHEMAS[key as keyof typeof RESULT_SCHEMAS].parse(result);
    return { kind: "result", result: result as never };
  };
  const session = createTaskSessionFromClient(client, {
    endpointId: "endpoint",
    rawDispatch: (request) => {
      const { method, params } = request as { method: string; params: Record<string, unknown> };
      return send(method, params);
    },
    v2RequestFraming: { protocolVersion: PROTOCOL_VERSION, clientInfo: CLIENT_INFO, clientCapabilities },
    ...(respond
      ? {
          onInputRequest: (request) =>
            Promise.resolve(respond(String((request.params as { message?: unknown }).message)) as never),
        }
      : {}),
  });
  const meta = {
    "io.modelcontextprotocol/protocolVersion": PROTOCOL_VERSION,
    "io.modelcontextprotocol/clientInfo": CLIENT_INFO,
    "io.modelcontextprotocol/clientCapabilities": clientCapabilities,
  };
  return {
    session,
    request: (method, params) => send(method, { ...params, _meta: meta }),
    async *listen(notifications, signal) {
      const response = await post("subscriptions/listen", { notifications, _meta: meta }, signal);
      if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
        yield (await response.json()) as McpStreamMessage;
        return;
      }
      let text = "";
      for await (const chunk of response.body ?? []) {
        const events = (text + Buffer.from(chunk).toString()).split("\n\n");
        text = events.pop() ?? "";
        for (const event of events) {
          const [, json] = /^data: (.*)$/m.exec(event) ?? [];
          if (json === undefined) continue;
          const message = JSON.parse(json) as McpStreamMessage;
          if (message.method === "notifications/tasks") TaskStatusNotificationV2Schema.parse(message);
          yield message;
        }
      }
    },
    close: async () => {
      await session.close();
      await client.close();
    },
  };
}
