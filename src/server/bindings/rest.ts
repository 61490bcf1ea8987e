import { A2AError, type OperationName } from "../../protocol/index.ts";
import {
  encodeSseFrame,
  encodeNamedSseFrame,
  v0_3,
  v1,
  type ProtocolVersion,
  type RestDialect,
  type SpecRevision,
} from "../../wire/index.ts";
import {
  buildCacheHeaders,
  handleOperation,
  assertJsonContentType,
  ensureMessageId,
  resolveErrorReplyVersion,
  buildErrorHeaders,
  resolveProtocolVersion,
  type AuthenticatedRequest,
  type BindingContext,
} from "./request-pipeline.ts";
import { createEndCondition, type EventStreamEncoder } from "./event-stream.ts";
import type { HttpReply, HttpRequest } from "../http-exchange.ts";
import { buildExtensionHeaders } from "../extensions.ts";

/** The versions by their numbers. */
const REST_DIALECTS: Readonly<Record<ProtocolVersion, RestDialect>> = {
  "1.0": v1.restDialect,
  "0.3": v0_3.restDialect,
};

/** The HTTP+JSON binding (A2A §11): routes below the agent's URL; `pathParams` is what follows it. */
export async function handleRest(
  admitted: AuthenticatedRequest,
  context: BindingContext,
  path: string,
): Promise<HttpReply> {
  const { request } = admitted;
  const { specRevision: revision } = context;
  let dialect: RestDialect | undefined;
  try {
    const shape = inferVersionFromPath(request.method, path, context.versions);
    if (!shape) throw createRouteNotFoundError(request);
    const version = resolveProtocolVersion(request, context, shape);
    dialect = REST_DIALECTS[version];
    const match = dialect.matchRoute(request.method, path);
    if (!match) throw createRouteNotFoundError(request, version, shape);
    if ("allowedMethods" in match)
      return createMethodNotAllowedReply(request, revision, match.allowedMethods, dialect);
    const { operation } = match;
    const body = request.method === "POST" ? await readJsonBody(request, context.maxBodyBytes) : undefined;
    const params = dialect.collectParams(
      operation,
      match.pathParams,
      new URLSearchParams(request.query),
      body,
    );
    const outcome = await handleOperation(admitted, operation, {
      codec: dialect,
      version,
      params: ensureMessageId(params, context),
    });
    const active = buildExtensionHeaders(outcome.activatedExtensions, version);
    if ("stream" in outcome)
      return context.eventStreams.createReply(
        outcome.stream,
        createRestStreamEncoder(dialect, operation, revision),
        active,
      );
    const type = negotiateMediaType(request, dialect, revision);
    const headers = { "content-type": type, ...active, ...buildCacheHeaders(operation) };
    return { status: 200, headers, body: dialect.encodeResult(operation, outcome.result) };
  } catch (error) {
    const known = dialect ?? resolveRestErrorDialect(request, context, path);
    return createRestErrorReply(request, revision, context.reportError("HTTP+JSON", error), known);
  }
}

/** The dialect in which a request is refused that has not been read: 0.3's for whatever is at `/v1/`, where it is served. */
export function resolveRestErrorDialect(
  request: HttpRequest,
  context: BindingContext,
  path: string,
): RestDialect {
  const isOlder = path.startsWith("/v1/") && context.versions.includes("0.3");
  return REST_DIALECTS[resolveErrorReplyVersion(request, context, isOlder ? "0.3" : "1.0")];
}

/** The version that a path looks like. `/v1/…` is 0.3's; to 1.0 it is a tenant. */
function inferVersionFromPath(
  method: string,
  path: string,
  versions: readonly ProtocolVersion[],
): ProtocolVersion | undefined {
  const isOlder = path.startsWith("/v1/") && versions.includes("0.3");
  if (isOlder && v0_3.restDialect.matchRoute(method, path)) return "0.3";
  return v1.restDialect.matchRoute(method, path) && "1.0";
}

function createRouteNotFoundError(
  { path }: HttpRequest,
  version?: ProtocolVersion,
  shape?: ProtocolVersion,
): A2AError {
  const text =
    version && shape && version !== shape
      ? `There is nothing at ${path} in A2A ${version}; it is a route of ${shape}, so send "A2A-Version: ${shape}".`
      : `There is nothing at ${path}; the routes are those of A2A §11.3.`;
  return new A2AError("NOT_FOUND", text);
}

/** An error as the body that the version has for it (A2A §11.6). */
export function createRestErrorReply(
  request: HttpRequest,
  revision: SpecRevision,
  error: A2AError,
  dialect: RestDialect = v1.restDialect,
): HttpReply {
  const { status, body } = dialect.toErrorResponse(error, revision);
  const headers = {
    "content-type": negotiateMediaType(request, dialect, revision),
    ...buildErrorHeaders(error),
  };
  return { status, headers, body: JSON.stringify(body) };
}

/** The refusal of a method that a path does not have. */
export function createMethodNotAllowedReply(
  request: HttpRequest,
  revision: SpecRevision,
  allow: readonly string[],
  dialect?: RestDialect,
): HttpReply {
  const text = `${request.path} does not take ${request.method}; use ${allow.join(" or ")}.`;
  const reply = createRestErrorReply(request, revision, new A2AError("METHOD_NOT_ALLOWED", text), dialect);
  return { ...reply, headers: { ...reply.headers, allow: allow.join(", ") } };
}

/** The JSON of a body; undefined for an empty one, which a cancellation may have. */
async function readJsonBody(request: HttpRequest, maxBytes: number): Promise<unknown> {
  const text = await request.text(maxBytes);
  if (text === "") return undefined;
  assertJsonContentType(request);
  try {
    return JSON.parse(text);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "unknown";
    throw new A2AError("PARSE_ERROR", `The body is not JSON (${why}); send one JSON object as UTF-8.`, {
      cause,
    });
  }
}

/** 1.0.1 has a media type of its own; clients that ask for plain JSON get that. */
function negotiateMediaType(request: HttpRequest, dialect: RestDialect, revision: SpecRevision): string {
  if (revision === "1.0.0") return "application/json";
  const accept = request.header("accept") ?? "";
  return accept.includes("application/json") && !accept.includes("application/a2a+json")
    ? "application/json"
    : dialect.mediaType;
}

/** Events as they are (A2A §11.7); a failure as the error body that a request would have got. */
function createRestStreamEncoder(
  dialect: RestDialect,
  operation: OperationName,
  revision: SpecRevision,
): EventStreamEncoder {
  return {
    encodeEvent: (event) => encodeSseFrame(dialect.encodeEvent(event), event.seq > 0 ? event.seq : undefined),
    encodeFailure: (error) => {
      const body = JSON.stringify(dialect.toErrorResponse(error, revision).body);
      return dialect.failureEventName
        ? encodeNamedSseFrame(dialect.failureEventName, body)
        : encodeSseFrame(body);
    },
    ...createEndCondition(dialect, operation),
  };
}
