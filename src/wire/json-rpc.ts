import { A2AError, isObject, type FieldViolation, type JsonObject } from "../protocol/index.ts";
import { parseBoundedJson } from "./bounded-json.ts";
import { fromErrorDetails, toErrorDetails } from "./error-details.ts";
import { ERROR_MAPPINGS, findReasonByJsonRpcCode, getReasonByHttpStatus } from "./error-mappings.ts";
import { formatJsonValue } from "./proto-json-schema.ts";

/** Maximum length of an id, in characters. Each event of a stream repeats the id of the request. */
const MAX_JSON_RPC_ID_LENGTH = 256;

/** The envelope of a JSON-RPC request. */
export interface JsonRpcRequest {
  id: JsonRpcId;
  method: string;
  /**
   * Parameters of the JSON-RPC method, as an object. The parameters are `{}` if the request has no
   * parameters (A2A §9.4.8).
   */
  params: unknown;
}

/** The error object of a JSON-RPC response. */
export interface JsonRpcError {
  code: number;
  message: string;
  data?: JsonObject[];
}

/** An error that reports an invalid JSON-RPC request. The member `id` is the id of the error response. */
export class JsonRpcRequestError extends Error {
  override readonly name: string = "JsonRpcRequestError";
  readonly id: JsonRpcId;
  readonly error: A2AError;

  constructor(id: JsonRpcId, error: A2AError) {
    super(error.message, { cause: error });
    this.id = id;
    this.error = error;
  }
}

/**
 * Parses the envelope of a JSON-RPC request. Throws a `JsonRpcRequestError` if the body is not a valid
 * request (A2A §9.5), or if the body has more than `maxJsonValues` values.
 */
export function decodeJsonRpcRequest(body: string, maxJsonValues?: number): JsonRpcRequest {
  const envelope = parseBody(body, maxJsonValues);
  if (!isObject(envelope)) {
    const batch = Array.isArray(envelope) ? "; A2A does not support batches, send one request at a time" : "";
    throw createInvalidRequestError(null, [
      {
        field: "request",
        description: `must be a JSON-RPC object, not ${formatJsonValue(envelope)}${batch}`,
      },
    ]);
  }
  const { jsonrpc, id: parsedId = null, method, params } = envelope;
  const responseId = decodeJsonRpcId(parsedId, body);
  const violations: FieldViolation[] = [];
  if (jsonrpc !== "2.0") violations.push({ field: "jsonrpc", description: `must be "2.0"` });
  if (responseId === undefined) {
    const description = `must be a string, a number or null, with at most ${MAX_JSON_RPC_ID_LENGTH} characters`;
    violations.push({ field: "id", description });
  }
  if (typeof method !== "string") {
    violations.push({ field: "method", description: `must be a string such as "SendMessage"` });
  }
  if (violations.length > 0 || typeof method !== "string" || responseId === undefined)
    throw createInvalidRequestError(responseId ?? null, violations);
  if (params !== undefined && params !== null && !isObject(params)) {
    const description = `must be an object with named members, not ${formatJsonValue(params)}`;
    throw new JsonRpcRequestError(responseId, A2AError.invalidParams([{ field: "params", description }]));
  }
  return { id: responseId, method, params: params ?? {} };
}

function parseBody(body: string, maxJsonValues?: number): unknown {
  if (body.trim() === "") {
    throw createInvalidRequestError(null, [
      { field: "request", description: "the body is empty; send a JSON-RPC object" },
    ]);
  }
  try {
    return parseBoundedJson(body, maxJsonValues);
  } catch (cause) {
    if (cause instanceof A2AError) throw new JsonRpcRequestError(null, cause);
    const reason = cause instanceof Error ? cause.message : "unknown";
    const message = `The body is not JSON (${reason}); send one JSON-RPC object as UTF-8 without a byte order mark.`;
    throw new JsonRpcRequestError(null, new A2AError("PARSE_ERROR", message, { cause }));
  }
}

/** Returns the id for the response, or `undefined` if the id is invalid. */
function decodeJsonRpcId(parsedId: unknown, body: string): JsonRpcId | undefined {
  if (typeof parsedId !== "string" && typeof parsedId !== "number" && parsedId !== null) return undefined;
  const id = preserveJsonRpcId(parsedId, body);
  const text = typeof id === "object" && id !== null ? id.rawJSON : id;
  return typeof text === "string" && text.length > MAX_JSON_RPC_ID_LENGTH ? undefined : id;
}

function createInvalidRequestError(id: JsonRpcId, violations: FieldViolation[]): JsonRpcRequestError {
  const message = violations.map(({ field, description }) => `${field}: ${description}`).join("; ");
  return new JsonRpcRequestError(id, new A2AError("INVALID_REQUEST", message, { violations }));
}

/** Encodes the part of a JSON-RPC response before the JSON of its result. A closing brace follows the result. */
export function encodeJsonRpcResultHead(id: JsonRpcId): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`;
}

/**
 * Encodes a JSON-RPC response. The parameter `resultJson` is JSON text, so that each event is serialized only
 * once.
 */
export function encodeJsonRpcResult(id: JsonRpcId, resultJson: string): string {
  return `${encodeJsonRpcResultHead(id)}${resultJson}}`;
}

/** Encodes an error as a complete JSON-RPC response. */
export function encodeJsonRpcError(id: JsonRpcId, error: A2AError): string {
  return JSON.stringify({ jsonrpc: "2.0", id, error: toJsonRpcError(error) });
}

/** Converts an error to a JSON-RPC error object. */
export function toJsonRpcError(error: A2AError): JsonRpcError {
  const data = toErrorDetails(error);
  const { message } = error;
  const code = ERROR_MAPPINGS[error.reason].jsonRpc;
  return data.length > 0 ? { code, message, data } : { code, message };
}

/**
 * Converts the error object of a JSON-RPC response to an error. The function reads the error reason from
 * the ErrorInfo, or from the code, or from the HTTP status (A2A §9.5). A2A 0.3 servers send only a code and
 * a message.
 */
export function fromJsonRpcError(json: unknown, httpStatus = 200): A2AError {
  const { code, message, data } = isObject(json) ? json : {};
  return fromErrorDetails(data, {
    message:
      typeof message === "string" && message !== ""
        ? message
        : `The agent returned error ${formatJsonValue(code)}.`,
    code: typeof code === "number" ? code : undefined,
    fallbackReason:
      findReasonByJsonRpcCode(code) ?? (httpStatus >= 400 ? getReasonByHttpStatus(httpStatus) : "INTERNAL"),
  });
}

/**
 * Id of a JSON-RPC request and its response. A `RawJsonNumber` is a number that JavaScript cannot print as the
 * client sent it, such as 12345678901234567890 or 1.0.
 */
export type JsonRpcId = string | number | null | RawJsonNumber;

/** A number that `JSON.stringify` prints as `rawJSON`. */
interface RawJsonNumber {
  readonly rawJSON: string;
}

/** `JSON.rawJSON` exists on Node.js 21 and later. TypeScript does not declare the function. */
const { rawJSON } = JSON as { rawJSON?: (text: string) => RawJsonNumber };

/** An id that is the first member of a request, except for the method and the version. */
const FIRST_ID_PATTERN =
  /^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"\s*,\s*)*"id"\s*:\s*(-?\d[\d.eE+-]*)/;
const LAST_ID_PATTERN = /"id"\s*:\s*(-?\d[\d.eE+-]*)\s*\}\s*$/;
/** Number of characters at the end of a request in which `LAST_ID_PATTERN` searches for an id. */
const LAST_ID_WINDOW = 320;

/**
 * Maximum length of a request that is searched completely. The search of a large request would delay other requests.
 */
const MAX_SEARCHED_LENGTH = 65_536;

/**
 * Returns the id of a request for its response, as the client sent it. `id` is the parsed id, and `body` is the
 * JSON text of the request. Clients compare ids as numbers of arbitrary precision, or as text.
 */
function preserveJsonRpcId(id: string | number | null, body: string): JsonRpcId {
  if (typeof id !== "number") return id;
  const text = String(id);
  // Almost all clients send the id in one of these two places.
  if (body.startsWith(`{"jsonrpc":"2.0","id":${text},`) || body.endsWith(`"id":${text}}`)) return id;
  const token =
    FIRST_ID_PATTERN.exec(body)?.[1] ??
    LAST_ID_PATTERN.exec(body.slice(-LAST_ID_WINDOW))?.[1] ??
    (body.length <= MAX_SEARCHED_LENGTH ? findIdNumber(body) : undefined);
  // A member that occurs twice could make the search find another number.
  if (rawJSON === undefined || token === undefined || Number(token) !== id) return id;
  return token === text ? id : rawJSON(token);
}

/** The third parameter of a reviver of `JSON.parse`, which engines with `rawJSON` pass. */
interface JsonSource {
  readonly source?: string;
}

/** Returns the text of the number `id` in the outermost object of a valid JSON text. */
function findIdNumber(json: string): string | undefined {
  const sourcesByParent = new Map<unknown, string | undefined>();
  const root: unknown = JSON.parse(
    json,
    function (this: unknown, key: string, value: unknown, { source }: JsonSource = {}) {
      if (key === "id") sourcesByParent.set(this, source);
      return value;
    },
  );
  return sourcesByParent.get(root);
}
