import { A2AError, type LogEvent } from "../protocol/index.ts";
import {
  decodeJsonRpc,
  encodeFrame,
  encodeJsonRpcError,
  encodeJsonRpcResult,
  isPushOperation,
  JsonRpcFailure,
  statusOf,
  v1,
  type JsonRpcId,
  type PushOperationName,
} from "../wire/index.ts";
import type { OperationName } from "../protocol/index.ts";
import {
  carryOut,
  checkContentType,
  checkVersion,
  refusalHeaders,
  type Admitted,
  type BindingContext,
} from "./binding.ts";
import type { Framing } from "./event-stream.ts";
import { json, type HttpReply } from "./exchange.ts";

/** The JSON-RPC binding (A2A §9): one POST, one operation. */
export async function answerJsonRpc(admitted: Admitted, context: BindingContext): Promise<HttpReply> {
  const { request } = admitted;
  let id: JsonRpcId = null;
  try {
    checkContentType(request);
    const envelope = decodeJsonRpc(await request.text(context.maxBodyBytes));
    id = envelope.id;
    const operation = operationOf(envelope.method);
    checkVersion(request, context, operation && "1.0");
    if (!operation) throw unknownMethod(envelope.method);
    const outcome = await carryOut(admitted, operation, envelope.params);
    if ("stream" in outcome) return context.streams.reply(outcome.stream, framing(id));
    return json(200, encodeJsonRpcResult(id, outcome.json));
  } catch (error) {
    if (error instanceof JsonRpcFailure) return refuseJsonRpc(error.id, error.error);
    return refuseJsonRpc(id, context.told("JSON-RPC", error));
  }
}

/**
 * An error as JSON-RPC. HTTP says 200 to whatever is an answer of JSON-RPC; only what concerns the carrier itself
 * (who may ask, how large, how often) has a status of its own, for the proxies on the way.
 */
export function refuseJsonRpc(id: JsonRpcId, error: A2AError): HttpReply {
  return json(
    CARRIER.has(error.reason) ? statusOf(error.reason, "1.0.1").http : 200,
    encodeJsonRpcError(id, error),
    refusalHeaders(error),
  );
}

const CARRIER: ReadonlySet<string> = new Set([
  "UNAUTHENTICATED",
  "PERMISSION_DENIED",
  "PAYLOAD_TOO_LARGE",
  "RESOURCE_EXHAUSTED",
  "UNAVAILABLE",
]);

function operationOf(method: string): OperationName | PushOperationName | undefined {
  return v1.isOperation(method) || isPushOperation(method) ? method : undefined;
}

function unknownMethod(method: string): A2AError {
  const text = `There is no method ${JSON.stringify(method.slice(0, 80))} in A2A 1.0; the names are like "SendMessage" (A2A §9.4).`;
  return new A2AError("METHOD_NOT_FOUND", text);
}

/** Events as JSON-RPC responses to the request that opened the stream (A2A §9.4.2). */
function framing(id: JsonRpcId): Framing {
  const head = `data: {"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
  return {
    frame: ({ seq, json }: LogEvent) => (seq > 0 ? `id: ${seq}\n${head}${json}}\n\n` : `${head}${json}}\n\n`),
    failure: (error) => encodeFrame(encodeJsonRpcError(id, error)),
  };
}
