import { A2AError, type FieldViolation, type JsonObject } from "../protocol/index.ts";
import { fromErrorDetails, isObject, toErrorDetails } from "./error-details.ts";
import { ERROR_MAPPINGS, findReasonByJsonRpcCode, getReasonByHttpStatus } from "./error-mappings.ts";
import { formatJsonValue } from "./proto-json-schema.ts";

export type JsonRpcId = string | number | null;

export interface JsonRpcRequest {
  id: JsonRpcId;
  method: string;
  /** An object; `{}` when the request has none (A2A §9.4.8). */
  params: unknown;
}

export interface JsonRpcError {
  code: number;
  message: string;
  data?: JsonObject[];
}

/** A request that is no request: what is wrong with it, and the id to answer with. */
export class JsonRpcRequestError extends Error {
  override readonly name: string = "JsonRpcFailure";
  readonly id: JsonRpcId;
  readonly error: A2AError;

  constructor(id: JsonRpcId, error: A2AError) {
    super(error.message, { cause: error });
    this.id = id;
    this.error = error;
  }
}

/** Reads the envelope of a request; throws a JsonRpcFailure when it is none (A2A §9.5). */
export function decodeJsonRpcRequest(body: string): JsonRpcRequest {
  const envelope = parseBody(body);
  if (!isObject(envelope)) {
    const batch = Array.isArray(envelope) ? "; A2A has no batches, send one request at a time" : "";
    throw createInvalidRequestError(null, [
      {
        field: "request",
        description: `must be a JSON-RPC object, not ${formatJsonValue(envelope)}${batch}`,
      },
    ]);
  }
  const { jsonrpc, id = null, method, params } = envelope;
  const violations: FieldViolation[] = [];
  if (jsonrpc !== "2.0") violations.push({ field: "jsonrpc", description: `must be "2.0"` });
  if (!isJsonRpcId(id)) violations.push({ field: "id", description: "must be a string, a number or null" });
  if (typeof method !== "string") {
    violations.push({ field: "method", description: `must be a string such as "SendMessage"` });
  }
  const answerTo = isJsonRpcId(id) ? id : null;
  if (violations.length > 0 || typeof method !== "string")
    throw createInvalidRequestError(answerTo, violations);
  if (params !== undefined && params !== null && !isObject(params)) {
    const description = `must be an object with named members, not ${formatJsonValue(params)}`;
    throw new JsonRpcRequestError(answerTo, A2AError.invalidParams([{ field: "params", description }]));
  }
  return { id: answerTo, method, params: params ?? {} };
}

function parseBody(body: string): unknown {
  if (body.trim() === "") {
    throw createInvalidRequestError(null, [
      { field: "request", description: "the body is empty; send a JSON-RPC object" },
    ]);
  }
  try {
    return JSON.parse(body);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "unknown";
    const message = `The body is not JSON (${why}); send one JSON-RPC object as UTF-8 without a byte order mark.`;
    throw new JsonRpcRequestError(null, new A2AError("PARSE_ERROR", message, { cause }));
  }
}

function isJsonRpcId(id: unknown): id is JsonRpcId {
  return typeof id === "string" || typeof id === "number" || id === null;
}

function createInvalidRequestError(id: JsonRpcId, violations: FieldViolation[]): JsonRpcRequestError {
  const told = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  return new JsonRpcRequestError(id, new A2AError("INVALID_REQUEST", told, { violations }));
}

/** A response around a result that is JSON text already, so that an event is never serialised twice. */
export function encodeJsonRpcResult(id: JsonRpcId, resultJson: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${resultJson}}`;
}

export function encodeJsonRpcError(id: JsonRpcId, error: A2AError): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: toJsonRpcError(error) });
}

export function toJsonRpcError(error: A2AError): JsonRpcError {
  const data = toErrorDetails(error);
  const { message } = error;
  const code = ERROR_MAPPINGS[error.reason].jsonRpc;
  return data.length > 0 ? { code, message, data } : { code, message };
}

/**
 * The error of a response, of whatever server: the reason of its ErrorInfo, or that of its code, or that of the HTTP
 * status it came with (A2A §9.5; 0.3 sends only code and message).
 */
export function fromJsonRpcError(json: unknown, httpStatus = 200): A2AError {
  const { code, message, data } = isObject(json) ? json : {};
  return fromErrorDetails(data, {
    message:
      typeof message === "string" && message !== ""
        ? message
        : `The agent answered error ${formatJsonValue(code)}.`,
    fallbackReason:
      findReasonByJsonRpcCode(code) ?? (httpStatus >= 400 ? getReasonByHttpStatus(httpStatus) : "INTERNAL"),
  });
}
