import { generateUuidV7, type Caller } from "../../engine/index.ts";
import { A2AError, isStreamingOperation, type OperationName } from "../../protocol/index.ts";
import {
  decodeJsonRpcRequest,
  encodeSseFrame,
  EVENT_STREAM_HEADERS,
  encodeJsonRpcResultHead,
  JsonRpcRequestError,
  getHttpAndGrpcErrorStatus,
  type JsonRpcDialect,
  type JsonRpcId,
  type JsonRpcRequest,
  type ProtocolVersion,
} from "../../wire/index.ts";
import * as v1 from "../../wire/v1/index.ts";
import { createJsonReply, type HttpReply, type HttpRequest, type RequestMetadata } from "../http-exchange.ts";
import { assertJsonContentType } from "../request-body.ts";
import { createResultReply } from "../result-reply.ts";
import type { ServedAgent } from "../served-agent.ts";
import { createLastEventMatcher, type EventStreamEncoder } from "./event-stream.ts";
import { loadSimpleDialect, loadV03 } from "./load-v0-3.ts";
import {
  buildExtendedCardCacheHeaders,
  authenticateRequest,
  resolveErrorReplyVersion,
  buildErrorHeaders,
  resolveProtocolVersion,
  type BindingContext,
} from "./request-pipeline.ts";

/**
 * Performs the operation of a JSON-RPC request (A2A §9). Authenticates the caller before reading the request
 * body. Never rejects, because every error becomes a JSON-RPC error reply.
 */
export async function handleJsonRpc(
  request: HttpRequest,
  agent: ServedAgent,
  context: BindingContext,
): Promise<HttpReply> {
  let caller: Caller | undefined;
  let hasOperation = false;
  let id: JsonRpcId = null;
  let dialect: JsonRpcDialect | undefined;
  let createErrorReply = createJsonRpcErrorReply;
  try {
    const authenticated = await authenticateRequest(request, agent, context);
    ({ caller } = authenticated);
    assertJsonContentType(request);
    const { envelope, bodyLength } = await readJsonRpcRequest(request, context);
    id = envelope.id;
    const { method, params } = envelope;
    const version = resolveProtocolVersion(request, context, inferVersionFromMethod(method));
    dialect = version === "1.0" ? v1.jsonRpcDialect : await selectV03Dialect(agent, context, envelope);
    const operation = dialect.findOperation(method);
    if (!operation) throw await createUnknownMethodError(method, version);
    if (version === "0.3" && isStreamingOperation(operation)) createErrorReply = createStreamErrorReply;

    hasOperation = true;
    const outcome = await context.handleOperation(authenticated, operation, {
      codec: dialect,
      binding: "JSONRPC",
      version,
      params,
      bodyLength,
      peerLeniency: context.peerLeniency,
      autoMessageId: context.autoMessageId,
      serviceDefaults: dialect,
    });
    if ("stream" in outcome) {
      const encoder = dialect.eventEncoder ?? createJsonRpcStreamEncoder(id, dialect, operation);
      return context.eventStreams.createSseHttpReply(outcome.stream, encoder, outcome.headers);
    }
    const reply = createResultReply(
      request.byteAccount,
      { "content-type": "application/json", ...outcome.headers, ...buildExtendedCardCacheHeaders(operation) },
      {
        result: dialect.toResultJson(operation, outcome.result),
        size: outcome.size,
        envelope: [encodeJsonRpcResultHead(id), "}"],
      },
    );
    return reply instanceof Promise ? await reply : reply;
  } catch (thrown) {
    dialect ??= await resolveErrorDialect(request, context);
    const isInvalidRequest = thrown instanceof JsonRpcRequestError;
    const error = isInvalidRequest
      ? thrown.error
      : context.reportError(caller ? "JSON-RPC" : "authenticate", thrown);
    const reply = isInvalidRequest
      ? createJsonRpcErrorReply(thrown.id, error, dialect)
      : createErrorReply(id, error, dialect);
    if (hasOperation) return reply;
    const refusal = {
      operation: request.method,
      binding: "JSONRPC",
      agentId: agent.id,
      caller,
      error,
    } as const;
    return { ...reply, refusal };
  }
}

/** Reads and decodes a request, so that only its length remains of the body while the operation runs. */
function readJsonRpcRequest(
  request: HttpRequest,
  { maxBodyBytes, maxJsonValues }: BindingContext,
): DecodedJsonRpcRequest | Promise<DecodedJsonRpcRequest> {
  const decode = (body: string): DecodedJsonRpcRequest => ({
    envelope: decodeJsonRpcRequest(body, maxJsonValues),
    bodyLength: body.length,
  });
  const body = request.text(maxBodyBytes);
  return typeof body === "string" ? decode(body) : body.then(decode);
}

interface DecodedJsonRpcRequest {
  readonly envelope: JsonRpcRequest;
  readonly bodyLength: number;
}

async function loadDialect(version: ProtocolVersion): Promise<JsonRpcDialect> {
  return version === "1.0" ? v1.jsonRpcDialect : (await loadV03()).jsonRpcDialect;
}

/** Returns A2A 0.3, or the simple dialect if the request belongs to the simple dialect. */
async function selectV03Dialect(
  agent: ServedAgent,
  context: BindingContext,
  { method, params }: JsonRpcRequest,
): Promise<JsonRpcDialect> {
  if (!context.simpleDialect) return await loadDialect("0.3");
  const { createSimpleDialect } = await loadSimpleDialect();
  const simple = createSimpleDialect(method, params, {
    agentId: agent.id,
    createMessageId: generateUuidV7,
    autoMessageId: context.autoMessageId,
  });
  return simple ?? (await loadDialect("0.3"));
}

/** Returns the dialect of the error reply to a request that cannot be parsed. */
function resolveErrorDialect(request: RequestMetadata, context: BindingContext): Promise<JsonRpcDialect> {
  return loadDialect(resolveErrorReplyVersion(request, context, undefined));
}

function inferVersionFromMethod(method: string): ProtocolVersion | undefined {
  return v1.jsonRpcDialect.findOperation(method) && "1.0";
}

/**
 * Returns a JSON-RPC error reply. The HTTP status of most JSON-RPC errors is 200. Authentication errors,
 * oversized bodies, and overload have an HTTP error status, so that proxies can recognize them.
 */
function createJsonRpcErrorReply(id: JsonRpcId, error: A2AError, dialect: JsonRpcDialect): HttpReply {
  return createJsonReply(
    REASONS_WITH_HTTP_STATUS.has(error.reason) ? getHttpAndGrpcErrorStatus(error.reason, "1.0.1").http : 200,
    dialect.encodeError(id, error),
    buildErrorHeaders(error),
  );
}

/**
 * Returns an event stream that contains only an error. For streaming methods, A2A 0.3 clients accept only an
 * event stream as the reply.
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

async function createUnknownMethodError(method: string, version: ProtocolVersion): Promise<A2AError> {
  const other = version === "1.0" ? "0.3" : "1.0";
  const example = version === "1.0" ? `"SendMessage" (A2A §9.4)` : `"message/send"`;
  const hint = (await loadDialect(other)).findOperation(method)
    ? `it belongs to A2A ${other}, so send "A2A-Version: ${other}"`
    : `use a method name such as ${example}`;
  const text = `A2A ${version} has no method ${JSON.stringify(method.slice(0, 80))}; ${hint}.`;
  return new A2AError("METHOD_NOT_FOUND", text);
}

/**
 * Creates an encoder that encodes each event as a JSON-RPC response to the streaming request (A2A §9.4.2).
 */
function createJsonRpcStreamEncoder(
  id: JsonRpcId,
  dialect: JsonRpcDialect,
  operation: OperationName,
): EventStreamEncoder {
  const head = `data: ${encodeJsonRpcResultHead(id)}`;
  return {
    encodeEvent: (event) => {
      const frame = `${head}${dialect.encodeEvent(event)}}\n\n`;
      return event.seq > 0 ? `id: ${event.seq}\n${frame}` : frame;
    },
    encodeFailure: (error) => encodeSseFrame(dialect.encodeError(id, error)),
    ...createLastEventMatcher(dialect, operation),
  };
}
