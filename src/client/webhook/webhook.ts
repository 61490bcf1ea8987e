import { defineOptionNames } from "../../base/usage-checks/index.ts";
import {
  getEventTaskId,
  isObject,
  A2AError,
  type StreamResponse,
  parseJsonOrUndefined,
} from "../../protocol/index.ts";
import * as v0_3 from "../../wire/v0_3/index.ts";
import * as v1 from "../../wire/v1/index.ts";
import {
  createWebhookAuthenticator,
  NotificationRejectedError,
  type WebhookAuthOptions,
  type WebhookSignatureOptions,
} from "./webhook-authenticator.ts";

/** Options for `createWebhook`. */
export interface WebhookOptions extends WebhookAuthOptions {
  /**
   * Returns whether a task belongs to this application. The webhook answers notifications about other
   * applications' tasks with 404, and the senders retry. By default, the webhook accepts notifications about
   * all tasks.
   */
  readonly isExpectedTask?: (taskId: string) => boolean | Promise<boolean>;
  /**
   * Processes the event of a notification. An A2A 0.3 agent sends the complete task. `id` is the same for
   * repeated deliveries of a notification, and undefined if the agent does not number its notifications. If
   * the returned promise rejects, the webhook asks the agent to retry.
   */
  readonly onEvent: (event: StreamResponse, taskId: string, id: string | undefined) => unknown;
  /** Receives the reason for each rejected notification. The sender receives only the HTTP status. */
  readonly onError?: (error: unknown) => void;
  /** Maximum size of a notification in bytes; larger notifications are rejected. Default: 16 MiB. */
  readonly maxBodyBytes?: number;
  /**
   * Maximum number of notifications that are processed at the same time. The webhook answers further
   * notifications with status 503, and the senders retry later. Default: 100.
   */
  readonly maxConcurrent?: number;
}

const assertKnownOptions = defineOptionNames<WebhookOptions>({
  signature: defineOptionNames<WebhookSignatureOptions>()(
    '"signature" of createWebhook',
    "keys audience issuer fetch now",
  ),
})(
  "createWebhook",
  "allowUnauthenticated authentication isExpectedTask maxBodyBytes maxConcurrent onError onEvent",
  "signature token",
);

/** Header of a request that asks the webhook to confirm that it expects notifications. */
const CHALLENGE_HEADER = "x-a2a-notification-challenge";

/** Maximum number of notification ids that are remembered for deduplication. */
const MAX_DEDUPLICATED_IDS = 10_000;

/**
 * Creates a request handler that receives task notifications of A2A 1.0 and 0.3 (A2A §4.3.3). The handler
 * works in any server that passes web `Request` objects and accepts `Response` objects. `toNodeListener`
 * adapts it to `node:http`.
 *
 * If a server asks for a confirmation (`X-A2A-Notification-Challenge`), the handler confirms each request that has the
 * token and the credentials of the options. With only `signature`, it confirms none, because the request has no
 * signature.
 *
 * `onEvent` receives only authenticated, valid notifications about expected tasks. The webhook responds with
 * success after `onEvent` has completed. During its lifetime, the handler processes each notification id only
 * once.
 */
export function createWebhook(options: WebhookOptions): (request: Request) => Promise<Response> {
  assertKnownOptions(options);
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

  async function receive(request: Request): Promise<Response> {
    if (request.method !== "POST")
      throw new NotificationRejectedError(
        405,
        `A notification requires the POST method, not ${request.method}.`,
      );
    const challenge = request.headers.get(CHALLENGE_HEADER);
    if (challenge !== null) {
      await authenticator.verifyChallenge(request.headers);
      return createChallengeResponse(challenge);
    }
    // Headers are verified before the body is read, so that unauthenticated requests cost little.
    const verifyBody = await authenticator.verifyHeaders(request.headers);
    const body = await readRequestBody(request, maxBodyBytes);
    await verifyBody(body);
    const event = decodeNotification(body);
    const taskId = "message" in event ? event.message.taskId : getEventTaskId(event);
    if (taskId === undefined)
      throw new NotificationRejectedError(400, "The notification contains no task id.");
    if (!(await isExpectedTask(taskId)))
      throw new NotificationRejectedError(404, `No notifications are expected for task ${taskId}.`);
    await processOnce(event, taskId, request.headers.get("x-a2a-notification-id") ?? undefined);
    return new Response(null, { status: 204 });
  }

  /**
   * Processes the event of a notification once. Repeated deliveries with the same id wait for the first
   * delivery.
   */
  function processOnce(event: StreamResponse, taskId: string, id: string | undefined): Promise<void> {
    const earlier = id === undefined ? undefined : deliveries.get(id);
    if (earlier || id === undefined) return earlier ?? callHandler(event, taskId, id);
    const delivery = callHandler(event, taskId, id);
    deliveries.set(id, delivery);
    // A failed notification is sent again and must count as new.
    delivery.catch(() => deliveries.delete(id));
    const [oldest] = deliveries.keys();
    if (deliveries.size > MAX_DEDUPLICATED_IDS && oldest !== undefined) deliveries.delete(oldest);
    return delivery;
  }

  async function callHandler(event: StreamResponse, taskId: string, id: string | undefined): Promise<void> {
    await onEvent(event, taskId, id);
  }

  return async (request) => {
    if (activeCount >= maxConcurrent)
      return new Response(null, { status: 503, headers: { "retry-after": "1" } });
    activeCount++;
    try {
      return await receive(request);
    } catch (error) {
      onError?.(error);
      const status = error instanceof NotificationRejectedError ? error.status : 500;
      return new Response(null, { status, ...(status === 405 ? { headers: { allow: "POST" } } : {}) });
    } finally {
      activeCount--;
    }
  };
}

/** Confirms a webhook. The value is restricted, so that a web page cannot misuse the response. */
function createChallengeResponse(value: string): Response {
  if (!/^[\w-]{16,256}$/.test(value))
    throw new NotificationRejectedError(400, `The header ${CHALLENGE_HEADER} is invalid.`);
  const headers = { "content-type": "text/plain", "x-content-type-options": "nosniff" };
  return new Response(value, { headers });
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

/**
 * Decodes the body of a notification. A2A 1.0 agents post a stream event, and A2A 0.3 agents post the
 * complete task.
 */
function decodeNotification(body: Uint8Array): StreamResponse {
  try {
    const json = parseJsonOrUndefined(new TextDecoder("utf-8", { fatal: true }).decode(body));
    const { decodeResult } = isObject(json) && "kind" in json ? v0_3 : v1;
    return decodeResult("SubscribeToTask", json);
  } catch (error) {
    if (error instanceof A2AError || error instanceof TypeError)
      throw new NotificationRejectedError(400, `The notification cannot be decoded: ${error.message}`, error);
    throw error;
  }
}
