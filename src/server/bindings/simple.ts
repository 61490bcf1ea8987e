import { A2AError } from "../../protocol/index.ts";
import { simple, statusOf } from "../../wire/index.ts";
import { carryOut, refusalHeaders, versionOf, type Admitted, type BindingContext } from "./binding.ts";
import { json, type HttpReply, type HttpRequest } from "../exchange.ts";
import { extensionHeaders } from "../extensions.ts";

/**
 * The one path that the simple dialect has below an agent's URL: `/tasks/{taskId}/events`. Undefined for any other, and for a
 * request of a version that has no such path.
 */
export function taskOfEvents(
  request: HttpRequest,
  context: BindingContext,
  path: string,
): string | undefined {
  const [, id] = /^\/tasks\/([^/]+)\/events$/.exec(path) ?? [];
  if (!context.simple || id === undefined) return undefined;
  try {
    return versionOf(request, context, undefined) === "0.3" ? decodeURIComponent(id) : undefined;
  } catch {
    // A version that is not served, or no text: the refusals of the HTTP+JSON binding say so.
    return undefined;
  }
}

/**
 * All that has happened to a task and all that will, or what is behind `Last-Event-ID`. From the beginning, because whoever
 * comes from `tasks/create` comes too late for the first events.
 */
export async function answerEvents(
  admitted: Admitted,
  context: BindingContext,
  taskId: string,
): Promise<HttpReply> {
  const { request } = admitted;
  try {
    if (request.method !== "GET") {
      const text = `${request.path} does not take ${request.method}; use GET.`;
      throw new A2AError("METHOD_NOT_ALLOWED", text);
    }
    const outcome = await carryOut(admitted, "SubscribeToTask", {
      codec: simple.taskEvents,
      version: "0.3",
      params: { taskId },
      service: { after: 0 },
    });
    if (!("stream" in outcome)) throw new Error("a subscription was answered without a stream");
    const headers = extensionHeaders(outcome.activated, "0.3");
    return context.streams.reply(outcome.stream, simple.taskEvents, headers);
  } catch (thrown) {
    const error = context.told("task events", thrown);
    const { http } = statusOf(error.reason, context.revision);
    const headers = { ...refusalHeaders(error), ...(http === 405 ? { allow: "GET" } : {}) };
    return json(http, JSON.stringify({ error: simple.toSimpleError(error) }), headers);
  }
}
