import { A2AError, type OperationName } from "../../protocol/index.ts";
import {
  encodeFrame,
  encodeNamedFrame,
  v0_3,
  v1,
  type ProtocolVersion,
  type RestDialect,
  type SpecRevision,
} from "../../wire/index.ts";
import {
  cacheHeaders,
  carryOut,
  checkContentType,
  completed,
  presumedVersion,
  refusalHeaders,
  versionOf,
  type Admitted,
  type BindingContext,
} from "./binding.ts";
import { endOf, type Framing } from "./event-stream.ts";
import type { HttpReply, HttpRequest } from "../exchange.ts";
import { extensionHeaders } from "../extensions.ts";

/** The versions by their numbers. */
const DIALECTS: Readonly<Record<ProtocolVersion, RestDialect>> = { "1.0": v1.rest, "0.3": v0_3.rest };

/** The HTTP+JSON binding (A2A §11): routes below the agent's URL; `path` is what follows it. */
export async function answerRest(
  admitted: Admitted,
  context: BindingContext,
  path: string,
): Promise<HttpReply> {
  const { request } = admitted;
  const { revision } = context;
  let dialect: RestDialect | undefined;
  try {
    const shape = shapeOf(request.method, path, context.versions);
    if (!shape) throw nothingAt(request);
    const version = versionOf(request, context, shape);
    dialect = DIALECTS[version];
    const match = dialect.matchRoute(request.method, path);
    if (!match) throw nothingAt(request, version, shape);
    if ("allow" in match) return notAllowed(request, revision, match.allow, dialect);
    const { operation } = match;
    const body = request.method === "POST" ? await readBody(request, context.maxBodyBytes) : undefined;
    const params = dialect.paramsOf(operation, match.path, new URLSearchParams(request.query), body);
    const outcome = await carryOut(admitted, operation, {
      codec: dialect,
      version,
      params: completed(params, context),
    });
    const active = extensionHeaders(outcome.activated, version);
    if ("stream" in outcome)
      return context.streams.reply(outcome.stream, framing(dialect, operation, revision), active);
    const type = mediaType(request, dialect, revision);
    const headers = { "content-type": type, ...active, ...cacheHeaders(operation) };
    return { status: 200, headers, body: dialect.encodeResult(operation, outcome.result) };
  } catch (error) {
    const known = dialect ?? presumedDialect(request, context, path);
    return refuseRest(request, revision, context.told("HTTP+JSON", error), known);
  }
}

/** The dialect in which a request is refused that has not been read: 0.3's for whatever is at `/v1/`, where it is served. */
export function presumedDialect(request: HttpRequest, context: BindingContext, path: string): RestDialect {
  const isOlder = path.startsWith("/v1/") && context.versions.includes("0.3");
  return DIALECTS[presumedVersion(request, context, isOlder ? "0.3" : "1.0")];
}

/** The version that a path looks like. `/v1/…` is 0.3's; to 1.0 it is a tenant. */
function shapeOf(
  method: string,
  path: string,
  versions: readonly ProtocolVersion[],
): ProtocolVersion | undefined {
  const isOlder = path.startsWith("/v1/") && versions.includes("0.3");
  if (isOlder && v0_3.rest.matchRoute(method, path)) return "0.3";
  return v1.rest.matchRoute(method, path) && "1.0";
}

function nothingAt({ path }: HttpRequest, version?: ProtocolVersion, shape?: ProtocolVersion): A2AError {
  const text =
    version && shape && version !== shape
      ? `There is nothing at ${path} in A2A ${version}; it is a route of ${shape}, so send "A2A-Version: ${shape}".`
      : `There is nothing at ${path}; the routes are those of A2A §11.3.`;
  return new A2AError("NOT_FOUND", text);
}

/** An error as the body that the version has for it (A2A §11.6). */
export function refuseRest(
  request: HttpRequest,
  revision: SpecRevision,
  error: A2AError,
  dialect: RestDialect = v1.rest,
): HttpReply {
  const { status, body } = dialect.toError(error, revision);
  const headers = { "content-type": mediaType(request, dialect, revision), ...refusalHeaders(error) };
  return { status, headers, body: JSON.stringify(body) };
}

/** The refusal of a method that a path does not have. */
export function notAllowed(
  request: HttpRequest,
  revision: SpecRevision,
  allow: readonly string[],
  dialect?: RestDialect,
): HttpReply {
  const text = `${request.path} does not take ${request.method}; use ${allow.join(" or ")}.`;
  const reply = refuseRest(request, revision, new A2AError("METHOD_NOT_ALLOWED", text), dialect);
  return { ...reply, headers: { ...reply.headers, allow: allow.join(", ") } };
}

/** The JSON of a body; undefined for an empty one, which a cancellation may have. */
async function readBody(request: HttpRequest, maxBytes: number): Promise<unknown> {
  const text = await request.text(maxBytes);
  if (text === "") return undefined;
  checkContentType(request);
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
function mediaType(request: HttpRequest, dialect: RestDialect, revision: SpecRevision): string {
  if (revision === "1.0.0") return "application/json";
  const accept = request.header("accept") ?? "";
  return accept.includes("application/json") && !accept.includes("application/a2a+json")
    ? "application/json"
    : dialect.mediaType;
}

/** Events as they are (A2A §11.7); a failure as the error body that a request would have got. */
function framing(dialect: RestDialect, operation: OperationName, revision: SpecRevision): Framing {
  return {
    frame: (event) => encodeFrame(dialect.encodeEvent(event), event.seq > 0 ? event.seq : undefined),
    failure: (error) => {
      const body = JSON.stringify(dialect.toError(error, revision).body);
      return dialect.failureEvent ? encodeNamedFrame(dialect.failureEvent, body) : encodeFrame(body);
    },
    ...endOf(dialect, operation),
  };
}
