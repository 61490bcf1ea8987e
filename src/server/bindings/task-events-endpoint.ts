import { getHttpAndGrpcErrorStatus } from "../../wire/index.ts";
import { createJsonReply, type HttpReply, type HttpRequest } from "../http-exchange.ts";
import { loadSimpleDialect } from "./load-v0-3.ts";
import { assertHttpMethodAllowed } from "./method-not-allowed-error.ts";
import {
  buildErrorHeaders,
  resolveProtocolVersion,
  type AuthenticatedRequest,
  type BindingContext,
} from "./request-pipeline.ts";

/**
 * Returns the task id in the path `/tasks/{taskId}/events`. The simple dialect has no other REST path.
 * Returns `undefined` if the path is different or the request is not A2A 0.3.
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
    // For an unsupported version or an invalid encoding, the HTTP+JSON binding returns the error.
    return undefined;
  }
}

/**
 * Streams the events of a task until the task ends or waits for its user. With `Last-Event-ID`, streams only the
 * events after that event. When `tasks/create` returns, the task already has events. The stream therefore starts
 * with the first event.
 */
export async function handleTaskEvents(
  authenticated: AuthenticatedRequest,
  context: BindingContext,
  taskId: string,
): Promise<HttpReply> {
  const { taskEventStreamCodec, toSimpleError } = await loadSimpleDialect();
  try {
    assertHttpMethodAllowed(authenticated.request, ["GET"]);
    const outcome = await context.handleOperation(authenticated, "SubscribeToTask", {
      codec: taskEventStreamCodec,
      binding: "HTTP+JSON",
      version: "0.3",
      params: { taskId },
      serviceDefaults: { resumeAfterSeq: 0, endsAtInputRequest: true },
    });
    if (!("stream" in outcome)) throw new Error("SubscribeToTask returned no stream");
    return context.eventStreams.createSseHttpReply(outcome.stream, taskEventStreamCodec, outcome.headers);
  } catch (thrown) {
    const error = context.reportError("task events", thrown);
    const { http } = getHttpAndGrpcErrorStatus(error.reason, context.specRevision);
    const body = JSON.stringify({ error: toSimpleError(error) });
    return createJsonReply(http, body, buildErrorHeaders(error));
  }
}
