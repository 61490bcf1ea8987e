import type { Caller } from "../../engine/index.ts";
import { A2AError, type OperationName } from "../../protocol/index.ts";
import {
  encodeSseFrame,
  encodeNamedSseFrame,
  type ProtocolVersion,
  type RestDialect,
  type SpecPatchVersion,
  getHttpAndGrpcErrorStatus,
} from "../../wire/index.ts";
import * as v1 from "../../wire/v1/index.ts";
import {
  type HttpReply,
  type HttpRequest,
  createJsonReply,
  MethodNotAllowedError,
  assertHttpMethodAllowed,
} from "../http-exchange.ts";
import { readJsonBody } from "../request-body.ts";
import { createResultReply } from "../result-reply.ts";
import type { ServedAgent } from "../served-agent.ts";
import { createLastEventMatcher, type EventStreamEncoder } from "./event-stream.ts";
import { loadV03, loadSimpleDialect } from "./load-v0-3.ts";
import {
  buildExtendedCardCacheHeaders,
  authenticateRequest,
  resolveErrorReplyVersion,
  buildErrorHeaders,
  resolveProtocolVersion,
  type BindingContext,
  type AuthenticatedRequest,
} from "./request-pipeline.ts";

/**
 * Performs the operation of an HTTP+JSON request (A2A §11). The parameter `path` is the request path without
 * the agent's path prefix. Authenticates the caller before reading the request body. Never rejects, because
 * every error becomes an error reply.
 */
export async function handleRest(
  request: HttpRequest,
  agent: ServedAgent,
  context: BindingContext,
  path: string,
): Promise<HttpReply> {
  const { specRevision } = context;
  let caller: Caller | undefined;
  let hasOperation = false;
  let dialect: RestDialect | undefined;
  try {
    const authenticated = await authenticateRequest(request, agent, context);
    ({ caller } = authenticated);
    const taskId = matchTaskEventsPath(request, context, path);
    if (taskId !== undefined) return await handleTaskEvents(authenticated, context, taskId);

    const inferredVersion = await findVersionWithRoute(request.method, path, context);
    if (!inferredVersion) throw createRouteNotFoundError(request);
    const version = resolveProtocolVersion(
      request,
      context,
      isV0_3Path(path, context) ? "0.3" : inferredVersion,
    );
    dialect =
      version === "0.3"
        ? (await loadV03()).selectRestDialect(request.header("user-agent"), context.peerLeniency)
        : v1.restDialect;
    const match = dialect.matchRoute(request.method, path);
    if (!match) throw createRouteNotFoundError(request, version, inferredVersion);
    if ("allowedMethods" in match) throw new MethodNotAllowedError(request, match.allowedMethods);

    const { operation, pathParams } = match;
    const body = request.method === "POST" ? await readJsonBody(request, context) : undefined;
    const query = new URLSearchParams(request.query);
    const params = dialect.collectParams(operation, pathParams, query, body?.json);
    hasOperation = true;
    const outcome = await context.handleOperation(authenticated, operation, {
      codec: dialect,
      binding: "HTTP+JSON",
      version,
      params,
      bodyLength: body?.length,
      peerLeniency: context.peerLeniency,
      autoMessageId: context.autoMessageId,
    });

    if ("stream" in outcome) {
      const encoder = createRestStreamEncoder(dialect, operation, specRevision);
      return context.eventStreams.createSseHttpReply(outcome.stream, encoder, outcome.headers);
    }
    const contentType = negotiateMediaType(request, dialect, specRevision);
    const headers = {
      "content-type": contentType,
      ...outcome.headers,
      ...buildExtendedCardCacheHeaders(operation),
    };
    const result = dialect.toResultJson(operation, outcome.result);
    return await createResultReply(request.byteAccount, headers, { result, size: outcome.size });
  } catch (thrown) {
    const error = context.reportError(caller ? "HTTP+JSON" : "authenticate", thrown);
    dialect ??= await resolveErrorDialect(request, context, path);
    const reply = createRestErrorReply(request, specRevision, error, dialect);
    if (hasOperation) return reply;
    const refusal = {
      operation: request.method,
      binding: "HTTP+JSON",
      agentId: agent.id,
      caller,
      error,
    } as const;
    return { ...reply, refusal };
  }
}

/**
 * Returns an A2A version that has a route for the path. A path below `/v1/` is either an A2A 0.3 route or an
 * A2A 1.0 route of the tenant `v1`.
 */
async function findVersionWithRoute(
  method: string,
  path: string,
  context: BindingContext,
): Promise<ProtocolVersion | undefined> {
  if (isV0_3Path(path, context) && (await loadV03()).restDialect.matchRoute(method, path)) return "0.3";
  return v1.restDialect.matchRoute(method, path) && "1.0";
}

/** Returns whether the path of a request without a version header suggests A2A 0.3. */
function isV0_3Path(path: string, { versions }: BindingContext): boolean {
  return path.startsWith("/v1/") && versions.includes("0.3");
}

/**
 * Returns the dialect of the error reply to a request that matches no route. The dialect is A2A 0.3 for paths
 * below `/v1/` if the server supports A2A 0.3.
 */
async function resolveErrorDialect(
  request: HttpRequest,
  context: BindingContext,
  path: string,
): Promise<RestDialect> {
  const inferredVersion = isV0_3Path(path, context) ? "0.3" : "1.0";
  const version = resolveErrorReplyVersion(request, context, inferredVersion);
  return version === "1.0" ? v1.restDialect : (await loadV03()).restDialect;
}

function createRouteNotFoundError(
  { path }: HttpRequest,
  version?: ProtocolVersion,
  inferredVersion?: ProtocolVersion,
): A2AError {
  const text =
    version && inferredVersion && version !== inferredVersion
      ? `${path} is not a route of A2A ${version} but of ${inferredVersion}; send "A2A-Version: ${inferredVersion}".`
      : `${path} is not a route of this agent; use a route of A2A §11.3.`;
  return new A2AError("NOT_FOUND", text);
}

/**
 * Creates the reply for an error, with the response body that the A2A version of the request defines (A2A
 * §11.6).
 */
export function createRestErrorReply(
  request: HttpRequest,
  specRevision: SpecPatchVersion,
  error: A2AError,
  dialect: RestDialect = v1.restDialect,
): HttpReply {
  const { status, body } = dialect.toErrorResponse(error, specRevision);
  const contentType = negotiateMediaType(request, dialect, specRevision);
  const headers = { "content-type": contentType, ...buildErrorHeaders(error) };
  return { status, headers, body: JSON.stringify(body) };
}

/**
 * Returns the media type of a reply. A2A 1.0.1 defines `application/a2a+json`. Clients that accept only
 * `application/json` receive `application/json`.
 */
function negotiateMediaType(
  request: HttpRequest,
  dialect: RestDialect,
  specRevision: SpecPatchVersion,
): string {
  if (specRevision === "1.0.0") return "application/json";
  const accept = request.header("accept") ?? "";
  return accept.includes("application/json") && !accept.includes("application/a2a+json")
    ? "application/json"
    : dialect.mediaType;
}

/**
 * Creates an encoder that encodes each event as an SSE frame (A2A §11.7), and each error as the body of an
 * error reply.
 */
function createRestStreamEncoder(
  dialect: RestDialect,
  operation: OperationName,
  specRevision: SpecPatchVersion,
): EventStreamEncoder {
  return {
    encodeEvent: (event) => encodeSseFrame(dialect.encodeEvent(event), event.seq > 0 ? event.seq : undefined),
    encodeFailure: (error) => {
      const body = JSON.stringify(dialect.toErrorResponse(error, specRevision).body);
      return dialect.failureEventName
        ? encodeNamedSseFrame(dialect.failureEventName, body)
        : encodeSseFrame(body);
    },
    ...createLastEventMatcher(dialect, operation),
  };
}

/**
 * Returns the task id in the path `/tasks/{taskId}/events`. The simple dialect has no other REST path.
 * Returns `undefined` if the path is different or the request is not A2A 0.3.
 */
function matchTaskEventsPath(
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
async function handleTaskEvents(
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
