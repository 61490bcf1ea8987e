import { A2AError, type StreamResponse } from "../protocol/index.ts";
import { v0_3, v1 } from "../wire/index.ts";
import { isObject, parseJson, readText } from "./http.ts";
import { proofOf, type WebhookProof } from "./webhook-proof.ts";

export interface WebhookOptions extends WebhookProof {
  /** Whether a task is one of ours. Default: all are. */
  readonly isExpected?: (taskId: string) => boolean | Promise<boolean>;
  /** Takes a notification. When it rejects, the agent is asked to send it again. */
  readonly onEvent: (event: StreamResponse, taskId: string) => void | Promise<void>;
  /** Larger notifications are refused. Default 16 MiB. */
  readonly maxBytes?: number;
}

/** Of how many notifications that were taken is remembered that they were. */
const REMEMBERED = 10_000;

/**
 * Receives what agents post about tasks (A2A §4.3.3), in either version, for any server that takes a function of a web
 * `Request`. Only what is proven, expected and readable is handed on. One that comes again, as its id tells where an
 * agent sends ids (Colloquy does), is handed on once for as long as this function lives.
 */
export function createWebhook(options: WebhookOptions): (request: Request) => Promise<Response> {
  const { isExpected = () => true, onEvent, maxBytes = 16 * 2 ** 20 } = options;
  const isProven = proofOf(options);
  const taken = new Map<string, Promise<void>>();

  /** Hands an event on; all who bring the same wait for the one that was first. */
  function take(event: StreamResponse, taskId: string, id: string | null): Promise<void> {
    const known = id === null ? undefined : taken.get(id);
    if (known || id === null) return known ?? handOn(event, taskId);
    const taking = handOn(event, taskId);
    taken.set(id, taking);
    // What failed will come again, and is then new.
    taking.catch(() => taken.delete(id));
    const [oldest] = taken.keys();
    if (taken.size > REMEMBERED && oldest !== undefined) taken.delete(oldest);
    return taking;
  }

  async function handOn(event: StreamResponse, taskId: string): Promise<void> {
    await onEvent(event, taskId);
  }

  return async (request) => {
    if (request.method !== "POST") return refusal(405, "Notifications are posted here.");
    let event: StreamResponse;
    try {
      const text = await readText({ maxResponseBytes: maxBytes }, new Response(request.body));
      if (!(await isProven(request, text)))
        return refusal(401, "Nothing proves who sends this notification.");
      event = decodeNotification(parseJson(text));
    } catch (error) {
      if (error instanceof A2AError) return refusal(400, error.message);
      return refusal(503, "It cannot be found out now who sends this notification; send it again.");
    }
    const taskId = taskIdOf(event);
    if (!(await isExpected(taskId))) return refusal(404, "Nobody waits for this task here.");
    try {
      await take(event, taskId, request.headers.get("x-a2a-notification-id"));
    } catch {
      return refusal(500, "The notification could not be taken; send it again.");
    }
    return new Response(null, { status: 204 });
  };
}

/** 1.0 posts an event of a stream, 0.3 the whole task. */
function decodeNotification(json: unknown): StreamResponse {
  const { decodeResult } = isObject(json) && "kind" in json ? v0_3 : v1;
  return decodeResult("SubscribeToTask", json);
}

function taskIdOf(event: StreamResponse): string {
  if ("task" in event) return event.task.id;
  if ("statusUpdate" in event) return event.statusUpdate.taskId;
  return "artifactUpdate" in event ? event.artifactUpdate.taskId : (event.message.taskId ?? "");
}

function refusal(status: number, text: string): Response {
  const headers = status === 405 ? { allow: "POST" } : undefined;
  return new Response(`${text}\n`, { status, ...(headers ? { headers } : {}) });
}
