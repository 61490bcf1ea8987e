import { A2AError, type StreamResponse } from "../../protocol/index.ts";
import { v0_3, v1 } from "../../wire/index.ts";
import { isObject, parseJson } from "../http/json.ts";
import { NotificationRejectedError } from "./notification-rejected-error.ts";
import { createWebhookAuthenticator, type WebhookAuthOptions } from "./webhook-authenticator.ts";

export interface WebhookOptions extends WebhookAuthOptions {
  /** Whether a task is one of ours. Others are answered 404, and come again. Default: all are. */
  readonly isExpectedTask?: (taskId: string) => boolean | Promise<boolean>;
  /**
   * Takes a notification: from an agent of 0.3 the whole task, as what happened has left it. `id` is the same whenever the
   * same one comes; undefined from agents that number none. When it rejects, the agent is asked to send it again.
   */
  readonly onEvent: (event: StreamResponse, taskId: string, id: string | undefined) => unknown;
  /** Told why a notification was not taken; its sender, who may be anybody, sees the status alone. */
  readonly onError?: (error: unknown) => void;
  /** Larger notifications are refused. Default 16 MiB. */
  readonly maxBodyBytes?: number;
  /** Notifications under way at once; beyond that their senders are told to wait. Default 100. */
  readonly maxConcurrent?: number;
}

/** Of how many notifications that were taken is remembered that they were. */
const MAX_REMEMBERED_IDS = 10_000;

/**
 * Receives what agents post about tasks (A2A §4.3.3), in either version, for any server that takes a function of a web
 * `Request`; `toNodeListener` makes one for `node:http`. Only what is proven, expected and readable is handed on, and the
 * answer is a success when that is done. What comes again under its id is handed on once, for as long as this function
 * lives.
 */
export function createWebhook(options: WebhookOptions): (request: Request) => Promise<Response> {
  const {
    isExpectedTask = () => true,
    onEvent,
    onError,
    maxBodyBytes = 16 * 2 ** 20,
    maxConcurrent = 100,
  } = options;
  const authenticator = createWebhookAuthenticator(options);
  const deliveries = new Map<string, Promise<void>>();
  let activeCount = 0;

  async function receive(request: Request): Promise<void> {
    if (request.method !== "POST")
      throw new NotificationRejectedError(405, `A notification is posted, not sent by ${request.method}.`);
    // First what can be told without reading, so that strangers cost little.
    await authenticator.verifyHeaders(request.headers);
    const body = await readRequestBody(request, maxBodyBytes);
    await authenticator.verifyBody(request.headers, body);
    const event = decodeNotification(body);
    const taskId = getTaskId(event);
    if (taskId === undefined)
      throw new NotificationRejectedError(400, "The notification belongs to no task.");
    if (!(await isExpectedTask(taskId)))
      throw new NotificationRejectedError(404, `No notification of task ${taskId} is expected.`);
    await take(event, taskId, request.headers.get("x-a2a-notification-id") ?? undefined);
  }

  /** Hands an event on; all who bring the same wait for the one that was first. */
  function take(event: StreamResponse, taskId: string, id: string | undefined): Promise<void> {
    const earlier = id === undefined ? undefined : deliveries.get(id);
    if (earlier || id === undefined) return earlier ?? handOn(event, taskId, id);
    const delivery = handOn(event, taskId, id);
    deliveries.set(id, delivery);
    // What failed will come again, and is then new.
    delivery.catch(() => deliveries.delete(id));
    const [oldest] = deliveries.keys();
    if (deliveries.size > MAX_REMEMBERED_IDS && oldest !== undefined) deliveries.delete(oldest);
    return delivery;
  }

  async function handOn(event: StreamResponse, taskId: string, id: string | undefined): Promise<void> {
    await onEvent(event, taskId, id);
  }

  return async (request) => {
    if (activeCount >= maxConcurrent)
      return new Response(null, { status: 503, headers: { "retry-after": "1" } });
    activeCount++;
    try {
      await receive(request);
      return new Response(null, { status: 204 });
    } catch (error) {
      onError?.(error);
      const status = error instanceof NotificationRejectedError ? error.status : 500;
      return new Response(null, { status, ...(status === 405 ? { headers: { allow: "POST" } } : {}) });
    } finally {
      activeCount--;
    }
  };
}

async function readRequestBody(request: Request, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes)
      throw new NotificationRejectedError(413, `The notification is larger than ${maxBytes} bytes.`);
    chunks.push(chunk);
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}

/** 1.0 posts an event of a stream, 0.3 the whole task. */
function decodeNotification(body: Uint8Array): StreamResponse {
  try {
    const json = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(body));
    const { decodeResult } = isObject(json) && "kind" in json ? v0_3 : v1;
    return decodeResult("SubscribeToTask", json);
  } catch (error) {
    if (error instanceof A2AError || error instanceof TypeError)
      throw new NotificationRejectedError(400, `The notification can not be read: ${error.message}`, error);
    throw error;
  }
}

function getTaskId(event: StreamResponse): string | undefined {
  if ("task" in event) return event.task.id;
  if ("statusUpdate" in event) return event.statusUpdate.taskId;
  return "artifactUpdate" in event ? event.artifactUpdate.taskId : event.message.taskId;
}
