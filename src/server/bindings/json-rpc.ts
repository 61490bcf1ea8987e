import { randomId } from "../../engine/index.ts";
import { A2AError, isStreaming, type OperationName } from "../../protocol/index.ts";
import {
  decodeJsonRpc,
  encodeFrame,
  encodeJsonRpcResult,
  JsonRpcFailure,
  simple,
  statusOf,
  v0_3,
  v1,
  type JsonRpcDialect,
  type JsonRpcId,
  type JsonRpcRequest,
  type ProtocolVersion,
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
  type Asked,
  type BindingContext,
} from "./binding.ts";
import { endOf, STREAM_HEADERS, type Framing } from "./event-stream.ts";
import { json, type HttpReply } from "../exchange.ts";
import { extensionHeaders } from "../extensions.ts";

/** The JSON-RPC binding (A2A §9): one POST, one operation. */
export async function answerJsonRpc(admitted: Admitted, context: BindingContext): Promise<HttpReply> {
  const { request } = admitted;
  let id: JsonRpcId = null;
  let dialect: JsonRpcDialect | undefined;
  let refuse: (id: JsonRpcId, error: A2AError, dialect: JsonRpcDialect) => HttpReply = refuseJsonRpc;
  try {
    checkContentType(request);
    const envelope = decodeJsonRpc(await request.text(context.maxBodyBytes));
    id = envelope.id;
    const { method, params } = envelope;
    const version = versionOf(request, context, shapeOf(method));
    dialect = simpleDialect(admitted, context, version, envelope) ?? DIALECTS[version];
    const operation = dialect.operationOf(method);
    if (!operation) throw unknownMethod(method, version);
    if (version === "0.3" && isStreaming(operation)) refuse = refuseStream;
    const outcome = await carryOut(admitted, operation, {
      codec: dialect,
      version,
      params: completed(params, context),
      service: dialect,
    });
    const headers = { ...extensionHeaders(outcome.activated, version), ...cacheHeaders(operation) };
    if ("stream" in outcome)
      return context.streams.reply(
        outcome.stream,
        dialect.events ?? framing(id, dialect, operation),
        headers,
      );
    return json(200, encodeJsonRpcResult(id, dialect.encodeResult(operation, outcome.result)), headers);
  } catch (error) {
    const known = dialect ?? presumedDialect(request, context);
    if (error instanceof JsonRpcFailure) return refuseJsonRpc(error.id, error.error, known);
    return refuse(id, context.told("JSON-RPC", error), known);
  }
}

/** The versions by their numbers. */
const DIALECTS: Readonly<Record<ProtocolVersion, JsonRpcDialect>> = {
  "1.0": v1.jsonRpc,
  "0.3": v0_3.jsonRpc,
};

/** The dialect of a request that 0.3 would not take, and the simple dialect does. */
function simpleDialect(
  { agent }: Admitted,
  context: BindingContext,
  version: ProtocolVersion,
  { method, params }: JsonRpcRequest,
): JsonRpcDialect | undefined {
  if (!context.simple || version !== "0.3") return undefined;
  return simple.jsonRpcFor(method, params, {
    agentId: agent.id,
    newId: randomId,
    autoMessageId: context.autoMessageId,
  });
}

/** The dialect in which a request is refused that has not been read. */
export function presumedDialect(request: Asked, context: BindingContext): JsonRpcDialect {
  return DIALECTS[presumedVersion(request, context, undefined)];
}

function shapeOf(method: string): ProtocolVersion | undefined {
  return v1.jsonRpc.operationOf(method) && "1.0";
}

/**
 * An error as JSON-RPC. HTTP says 200 to whatever is an answer of JSON-RPC; only what concerns the carrier itself
 * (who may ask, how large, how often) has a status of its own, for the proxies on the way.
 */
export function refuseJsonRpc(
  id: JsonRpcId,
  error: A2AError,
  dialect: Pick<JsonRpcDialect, "encodeError">,
): HttpReply {
  return json(
    CARRIER.has(error.reason) ? statusOf(error.reason, "1.0.1").http : 200,
    dialect.encodeError(id, error),
    refusalHeaders(error),
  );
}

/**
 * An error in place of a stream, as servers of 0.3 send it: an event. Its clients take nothing but a stream for the
 * answer of a method that streams.
 */
function refuseStream(id: JsonRpcId, error: A2AError, dialect: JsonRpcDialect): HttpReply {
  if (CARRIER.has(error.reason)) return refuseJsonRpc(id, error, dialect);
  const body = dialect.events?.failure(error) ?? encodeFrame(dialect.encodeError(id, error));
  return { status: 200, headers: STREAM_HEADERS, body };
}

const CARRIER: ReadonlySet<string> = new Set([
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "PAYLOAD_TOO_LARGE",
  "RESOURCE_EXHAUSTED",
  "UNAVAILABLE",
]);

function unknownMethod(method: string, version: ProtocolVersion): A2AError {
  const other = version === "1.0" ? "0.3" : "1.0";
  const example = version === "1.0" ? `"SendMessage" (A2A §9.4)` : `"message/send"`;
  const hint = DIALECTS[other].operationOf(method)
    ? `it is of A2A ${other}, so send "A2A-Version: ${other}"`
    : `the names are like ${example}`;
  const text = `There is no method ${JSON.stringify(method.slice(0, 80))} in A2A ${version}; ${hint}.`;
  return new A2AError("METHOD_NOT_FOUND", text);
}

/** Events as JSON-RPC responses to the request that opened the stream (A2A §9.4.2). */
function framing(id: JsonRpcId, dialect: JsonRpcDialect, operation: OperationName): Framing {
  const head = `data: {"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
  return {
    frame: (event) => {
      const frame = `${head}${dialect.encodeEvent(event)}}\n\n`;
      return event.seq > 0 ? `id: ${event.seq}\n${frame}` : frame;
    },
    failure: (error) => encodeFrame(dialect.encodeError(id, error)),
    ...endOf(dialect, operation),
  };
}
