import type { ClientCapabilities } from "@modelcontextprotocol/server";
import { isObject, type JsonObject } from "../../../protocol/index.ts";
import { declaresElicitation, type McpServerSdk } from "../host-capabilities.ts";
import { isA2AError } from "../is-a2a-error.ts";
import { MCP_TASKS_EXTENSION } from "./mcp-task.ts";
import type { McpTaskCall, McpTaskOperations } from "./mcp-task-operations.ts";

/** Options for a `TaskSubscriptionEndpoint`. */
interface TaskSubscriptionOptions {
  /** Whether the host's user answers the agents' questions, if the host supports elicitation. */
  readonly askUser: boolean;
  readonly onError: (error: unknown) => void;
}

/** A `subscriptions/listen` request that contains ids of MCP tasks. */
interface TaskListenRequest {
  readonly id: string | number;
  readonly body: JsonObject;
  readonly params: JsonObject;
  readonly taskIds: readonly string[];
  readonly isNotifiedOfTools: boolean;
  readonly capabilities: ClientCapabilities;
}

/** Interval between two comments on an idle event stream, in milliseconds. */
const HEARTBEAT_MS = 15_000;
/** Maximum number of MCP tasks in one subscription. The server does not acknowledge additional task ids. */
const MAX_TASKS_PER_SUBSCRIPTION = 100;
const LISTEN_METHOD = "subscriptions/listen";

/**
 * Handles `subscriptions/listen` requests with `taskIds` over streamable HTTP. The SDK's handler ignores
 * `taskIds`. The stream sends `notifications/tasks` after each change of a task's status. The stream ends
 * when all tasks have ended, unless the host also subscribes to tool list changes.
 */
export class TaskSubscriptionEndpoint {
  readonly #sdk: McpServerSdk;
  readonly #operations: McpTaskOperations;
  readonly #options: TaskSubscriptionOptions;
  readonly #toolListeners = new Set<() => void>();
  readonly #closeController = new AbortController();

  constructor(sdk: McpServerSdk, operations: McpTaskOperations, options: TaskSubscriptionOptions) {
    this.#sdk = sdk;
    this.#operations = operations;
    this.#options = options;
  }

  /** Handles a subscription with `taskIds`, and passes every other request to the SDK's handler. */
  async fetch(request: Request, fetchFromSdk: (request: Request) => Promise<Response>): Promise<Response> {
    if (request.headers.get("mcp-method") !== LISTEN_METHOD) return fetchFromSdk(request);
    const listen = this.#decodeRequest(await readJson(request.clone()));
    if (!listen) return fetchFromSdk(request);
    // The SDK validates the headers and the envelope. Its handler accepts a subscription to nothing.
    const body = JSON.stringify({ ...listen.body, params: { ...listen.params, notifications: {} } });
    const { method, headers, url } = request;
    const validation = await fetchFromSdk(new Request(url, { method, headers, body }));
    if (!validation.headers.get("content-type")?.startsWith("text/event-stream")) return validation;
    await validation.body?.cancel();
    if (listen.capabilities.extensions?.[MCP_TASKS_EXTENSION] === undefined)
      return this.#createMissingCapabilityResponse(listen.id);
    return this.#openStream(listen, request);
  }

  notifyToolsChanged(): void {
    for (const notify of this.#toolListeners) notify();
  }

  close(): void {
    this.#closeController.abort();
  }

  #decodeRequest(body: unknown): TaskListenRequest | undefined {
    if (!isObject(body) || body["method"] !== LISTEN_METHOD || !isObject(body["params"])) return undefined;
    const { id, params } = body;
    const { notifications, _meta: meta } = params;
    if (typeof id !== "string" && typeof id !== "number") return undefined;
    const taskIds = isObject(notifications) ? notifications["taskIds"] : undefined;
    if (!isObject(notifications) || !Array.isArray(taskIds)) return undefined;
    const capabilities = isObject(meta) ? meta[this.#sdk.CLIENT_CAPABILITIES_META_KEY] : undefined;
    return {
      id,
      body,
      params,
      taskIds: [...new Set(taskIds.filter((taskId) => typeof taskId === "string"))],
      isNotifiedOfTools: notifications["toolsListChanged"] === true,
      capabilities: isObject(capabilities) ? capabilities : {},
    };
  }

  #createMissingCapabilityResponse(id: string | number): Response {
    const requiredCapabilities = { extensions: { [MCP_TASKS_EXTENSION]: {} } };
    const { code, message, data } = new this.#sdk.MissingRequiredClientCapabilityError({
      requiredCapabilities,
    });
    return Response.json({ jsonrpc: "2.0", id, error: { code, message, data } }, { status: 400 });
  }

  async #openStream(listen: TaskListenRequest, request: Request): Promise<Response> {
    const { id, isNotifiedOfTools, capabilities } = listen;
    const streamController = new AbortController();
    const signal = AbortSignal.any([request.signal, this.#closeController.signal, streamController.signal]);
    const authorization = request.headers.get("authorization");
    const call: McpTaskCall = {
      signal,
      localHeaders: authorization ? { authorization } : {},
      canAskUser: this.#options.askUser && declaresElicitation(capabilities),
    };
    const taskIds = await this.#findKnownTasks(listen.taskIds.slice(0, MAX_TASKS_PER_SUBSCRIPTION), call);
    const meta = { [this.#sdk.SUBSCRIPTION_ID_META_KEY]: id };
    const encoder = new TextEncoder();
    const stream = new ReadableStream<Uint8Array>({
      start: (controller) => {
        const write = (text: string): void => {
          if (!streamController.signal.aborted) controller.enqueue(encoder.encode(text));
        };
        const send = (message: object): void =>
          write(`event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", ...message })}\n\n`);
        const notify = (method: string, params: object): void =>
          send({ method, params: { ...params, _meta: meta } });
        const notifyOfTools = (): void => notify("notifications/tools/list_changed", {});
        notify("notifications/subscriptions/acknowledged", {
          notifications: { taskIds, ...(isNotifiedOfTools ? { toolsListChanged: true } : {}) },
        });
        if (isNotifiedOfTools) this.#toolListeners.add(notifyOfTools);
        const heartbeat = setInterval(() => write(": heartbeat\n\n"), HEARTBEAT_MS);
        const followTask = async (taskId: string): Promise<void> => {
          for await (const task of this.#operations.follow(taskId, call)) notify("notifications/tasks", task);
        };
        const followTasks = async (): Promise<void> => {
          for (const outcome of await Promise.allSettled(taskIds.map((taskId) => followTask(taskId))))
            if (outcome.status === "rejected" && !signal.aborted) this.#options.onError(outcome.reason);
          if (isNotifiedOfTools && !signal.aborted)
            await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
          send({ id, result: { resultType: "complete", _meta: meta } });
          clearInterval(heartbeat);
          this.#toolListeners.delete(notifyOfTools);
          if (!streamController.signal.aborted) controller.close();
        };
        void followTasks();
      },
      cancel: () => streamController.abort(),
    });
    return new Response(stream, {
      headers: { "content-type": "text/event-stream", "cache-control": "no-cache, no-transform" },
    });
  }

  /** Returns the ids of the tasks that exist and belong to the caller. */
  async #findKnownTasks(taskIds: readonly string[], call: McpTaskCall): Promise<string[]> {
    const tasks = await Promise.all(
      taskIds.map(async (taskId) => {
        try {
          await this.#operations.get(taskId, call);
          return [taskId];
        } catch (error) {
          if (!isA2AError(error)) this.#options.onError(error);
          return [];
        }
      }),
    );
    return tasks.flat();
  }
}

async function readJson(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch {
    // The SDK's handler rejects the request.
    return undefined;
  }
}
