import { generateUuidV7 } from "../../engine/index.ts";
import { A2AError, isStreamingOperation, type OperationName } from "../../protocol/index.ts";
import {
  decodeJsonRpcRequest,
  encodeSseFrame,
  encodeJsonRpcResult,
  JsonRpcRequestError,
  simpleDialect,
  getErrorStatus,
  v0_3,
  v1,
  type JsonRpcDialect,
  type JsonRpcId,
  type JsonRpcRequest,
  type ProtocolVersion,
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
  type RequestHead,
  type BindingContext,
} from "./request-pipeline.ts";
import { createEndCondition, EVENT_STREAM_HEADERS, type EventStreamEncoder } from "./event-stream.ts";
import { createJsonReply, type HttpReply } from "../http-exchange.ts";
import { buildExtensionHeaders } from "../extensions.ts";

/** The JSON-RPC binding (A2A §9): one POST, one operation. */
export async function handleJsonRpc(
  admitted: AuthenticatedRequest,
  context: BindingContext,
): Promise<HttpReply> {
  const { request } = admitted;
  let id: JsonRpcId = null;
  let dialect: JsonRpcDialect | undefined;
  let refuse: (id: JsonRpcId, error: A2AError, dialect: JsonRpcDialect) => HttpReply =
    createJsonRpcErrorReply;
  try {
    assertJsonContentType(request);
    const envelope = decodeJsonRpcRequest(await request.text(context.maxBodyBytes));
    id = envelope.id;
    const { method, params } = envelope;
    const version = resolveProtocolVersion(request, context, inferVersionFromMethod(method));
    dialect = findEnabledSimpleDialect(admitted, context, version, envelope) ?? JSON_RPC_DIALECTS[version];
    const operation = dialect.findOperation(method);
    if (!operation) throw createUnknownMethodError(method, version);
    if (version === "0.3" && isStreamingOperation(operation)) refuse = createStreamErrorReply;
    const outcome = await handleOperation(admitted, operation, {
      codec: dialect,
      version,
      params: ensureMessageId(params, context),
      serviceDefaults: dialect,
    });
    const headers = {
      ...buildExtensionHeaders(outcome.activatedExtensions, version),
      ...buildCacheHeaders(operation),
    };
    if ("stream" in outcome)
      return context.eventStreams.createReply(
        outcome.stream,
        dialect.eventEncoder ?? createJsonRpcStreamEncoder(id, dialect, operation),
        headers,
      );
    return createJsonReply(
      200,
      encodeJsonRpcResult(id, dialect.encodeResult(operation, outcome.result)),
      headers,
    );
  } catch (error) {
    const known = dialect ?? resolveJsonRpcErrorDialect(request, context);
    if (error instanceof JsonRpcRequestError) return createJsonRpcErrorReply(error.id, error.error, known);
    return refuse(id, context.reportError("JSON-RPC", error), known);
  }
}

/** The versions by their numbers. */
const JSON_RPC_DIALECTS: Readonly<Record<ProtocolVersion, JsonRpcDialect>> = {
  "1.0": v1.jsonRpcDialect,
  "0.3": v0_3.jsonRpcDialect,
};

/** The dialect of a request that 0.3 would not take, and the simple dialect does. */
function findEnabledSimpleDialect(
  { agent }: AuthenticatedRequest,
  context: BindingContext,
  version: ProtocolVersion,
  { method, params }: JsonRpcRequest,
): JsonRpcDialect | undefined {
  if (!context.simpleDialect || version !== "0.3") return undefined;
  return simpleDialect.findSimpleDialect(method, params, {
    agentId: agent.id,
    createMessageId: generateUuidV7,
    autoMessageId: context.autoMessageId,
  });
}

/** The dialect in which a request is refused that has not been read. */
export function resolveJsonRpcErrorDialect(request: RequestHead, context: BindingContext): JsonRpcDialect {
  return JSON_RPC_DIALECTS[resolveErrorReplyVersion(request, context, undefined)];
}

function inferVersionFromMethod(method: string): ProtocolVersion | undefined {
  return v1.jsonRpcDialect.findOperation(method) && "1.0";
}

/**
 * An error as JSON-RPC. HTTP says 200 to whatever is an answer of JSON-RPC; only what concerns the carrier itself
 * (who may ask, how large, how often) has a status of its own, for the proxies on the way.
 */
export function createJsonRpcErrorReply(
  id: JsonRpcId,
  error: A2AError,
  dialect: Pick<JsonRpcDialect, "encodeError">,
): HttpReply {
  return createJsonReply(
    REASONS_WITH_HTTP_STATUS.has(error.reason) ? getErrorStatus(error.reason, "1.0.1").http : 200,
    dialect.encodeError(id, error),
    buildErrorHeaders(error),
  );
}

/**
 * An error in place of a stream, as servers of 0.3 send it: an event. Its clients take nothing but a stream for the
 * answer of a method that streams.
 */
function createStreamErrorReply(id: JsonRpcId, error: A2AError, dialect: JsonRpcDialect): HttpReply {
  if (REASONS_WITH_HTTP_STATUS.has(error.reason)) return createJsonRpcErrorReply(id, error, dialect);
  const body = dialect.eventEncoder?.encodeFailure(error) ?? encodeSseFrame(dialect.encodeError(id, error));
  return { status: 200, headers: EVENT_STREAM_HEADERS, body };
}

const REASONS_WITH_HTTP_STATUS: ReadonlySet<string> = new Set([
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "PAYLOAD_TOO_LARGE",
  "RESOURCE_EXHAUSTED",
  "UNAVAILABLE",
]);

function createUnknownMethodError(method: string, version: ProtocolVersion): A2AError {
  const other = version === "1.0" ? "0.3" : "1.0";
  const example = version === "1.0" ? `"SendMessage" (A2A §9.4)` : `"message/send"`;
  const hint = JSON_RPC_DIALECTS[other].findOperation(method)
    ? `it is of A2A ${other}, so send "A2A-Version: ${other}"`
    : `the names are like ${example}`;
  const text = `There is no method ${JSON.stringify(method.slice(0, 80))} in A2A ${version}; ${hint}.`;
  return new A2AError("METHOD_NOT_FOUND", text);
}

/** Events as JSON-RPC responses to the request that opened the stream (A2A §9.4.2). */
function createJsonRpcStreamEncoder(
  id: JsonRpcId,
  dialect: JsonRpcDialect,
  operation: OperationName,
): EventStreamEncoder {
  const head = `data: {"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
  return {
    encodeEvent: (event) => {
      const frame = `${head}${dialect.encodeEvent(event)}}\n\n`;
      return event.seq > 0 ? `id: ${event.seq}\n${frame}` : frame;
    },
    encodeFailure: (error) => encodeSseFrame(dialect.encodeError(id, error)),
    ...createEndCondition(dialect, operation),
  };
}
