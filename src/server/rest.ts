import { A2AError } from "../protocol/index.ts";
import {
  encodeFrame,
  matchRestRoute,
  paramsFromRest,
  toRestError,
  isPushOperation,
  type SpecRevision,
} from "../wire/index.ts";
import {
  carryOut,
  checkContentType,
  checkVersion,
  refusalHeaders,
  type Admitted,
  type BindingContext,
} from "./binding.ts";
import type { Framing } from "./event-stream.ts";
import type { HttpReply, HttpRequest } from "./exchange.ts";

/** The HTTP+JSON binding (A2A §11): routes below the agent's URL; `path` is what follows it. */
export async function answerRest(
  admitted: Admitted,
  context: BindingContext,
  path: string,
): Promise<HttpReply> {
  const { request } = admitted;
  const { revision } = context;
  try {
    const match = matchRestRoute(request.method, path);
    if (!match)
      throw new A2AError(
        "NOT_FOUND",
        `There is nothing at ${request.path}; the routes are those of A2A §11.3.`,
      );
    if ("allow" in match) return notAllowed(request, revision, match.allow);
    checkVersion(request, context, "1.0");
    const { operation } = match;
    const body = request.method === "POST" ? await readBody(request, context.maxBodyBytes) : undefined;
    const params = isPushOperation(operation)
      ? undefined
      : paramsFromRest(operation, match.path, new URLSearchParams(request.query), body);
    const outcome = await carryOut(admitted, operation, params);
    if ("stream" in outcome) return context.streams.reply(outcome.stream, framing(revision));
    return { status: 200, headers: { "content-type": mediaType(request, revision) }, body: outcome.json };
  } catch (error) {
    return refuseRest(request, revision, context.told("HTTP+JSON", error));
  }
}

/** An error as `google.rpc.Status` in JSON (A2A §11.6). */
export function refuseRest(request: HttpRequest, revision: SpecRevision, error: A2AError): HttpReply {
  const { status, body } = toRestError(error, revision);
  const headers = { "content-type": mediaType(request, revision), ...refusalHeaders(error) };
  return { status, headers, body: JSON.stringify(body) };
}

/** The refusal of a method that a path does not have. */
export function notAllowed(
  request: HttpRequest,
  revision: SpecRevision,
  allow: readonly string[],
): HttpReply {
  const text = `${request.path} does not take ${request.method}; use ${allow.join(" or ")}.`;
  const reply = refuseRest(request, revision, new A2AError("METHOD_NOT_ALLOWED", text));
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
function mediaType(request: HttpRequest, revision: SpecRevision): string {
  if (revision === "1.0.0") return "application/json";
  const accept = request.header("accept") ?? "";
  return accept.includes("application/json") && !accept.includes("application/a2a+json")
    ? "application/json"
    : "application/a2a+json";
}

/** Events as they are (A2A §11.7); a failure as the error body that a request would have got. */
function framing(revision: SpecRevision): Framing {
  return {
    frame: ({ seq, json }) => (seq > 0 ? encodeFrame(json, seq) : encodeFrame(json)),
    failure: (error) => encodeFrame(JSON.stringify(toRestError(error, revision).body)),
  };
}
