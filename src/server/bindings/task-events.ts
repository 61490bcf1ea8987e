import { A2AError } from "../../protocol/index.ts";
import { getErrorStatus, simpleDialect } from "../../wire/index.ts";
import {
  handleOperation,
  buildErrorHeaders,
  resolveProtocolVersion,
  type AuthenticatedRequest,
  type BindingContext,
} from "./request-pipeline.ts";
import { createJsonReply, type HttpReply, type HttpRequest } from "../http-exchange.ts";
import { buildExtensionHeaders } from "../extensions.ts";

/**
 * The one path that the simple dialect has below an agent's URL: `/tasks/{taskId}/events`. Undefined for any other, and for a
 * request of a version that has no such path.
 */
export function matchTaskEventsPath(
  request: HttpRequest,
  context: BindingContext,
  path: string,
): string | undefined {
  const [, id] = /^\/tasks\/([^/]+)\/events$/.exec(path) ?? [];
  if (!context.simpleDialect || id === undefined) return undefined;
  try {
    return resolveProtocolVersion(request, context, undefined) === "0.3" ? decodeURIComponent(id) : undefined;
  } catch {
    // A version that is not served, or no text: the refusals of the HTTP+JSON binding say so.
    return undefined;
  }
}

/**
 * All that has happened to a task and all that will, or what is behind `Last-Event-ID`. From the beginning, because whoever
 * comes from `tasks/create` comes too late for the first events.
 */
export async function handleTaskEvents(
  admitted: AuthenticatedRequest,
  context: BindingContext,
  taskId: string,
): Promise<HttpReply> {
  const { request } = admitted;
  try {
    if (request.method !== "GET") {
      const text = `${request.path} does not take ${request.method}; use GET.`;
      throw new A2AError("METHOD_NOT_ALLOWED", text);
    }
    const outcome = await handleOperation(admitted, "SubscribeToTask", {
      codec: simpleDialect.taskEventCodec,
      version: "0.3",
      params: { taskId },
      serviceDefaults: { resumeAfterSeq: 0 },
    });
    if (!("stream" in outcome)) throw new Error("a subscription was answered without a stream");
    const headers = buildExtensionHeaders(outcome.activatedExtensions, "0.3");
    return context.eventStreams.createReply(outcome.stream, simpleDialect.taskEventCodec, headers);
  } catch (thrown) {
    const error = context.reportError("task events", thrown);
    const { http } = getErrorStatus(error.reason, context.specRevision);
    const headers = { ...buildErrorHeaders(error), ...(http === 405 ? { allow: "GET" } : {}) };
    return createJsonReply(http, JSON.stringify({ error: simpleDialect.toSimpleError(error) }), headers);
  }
}
