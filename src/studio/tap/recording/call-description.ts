import { omitUndefined } from "../../../base/usage-checks/index.ts";
import {
  findAfterGeneration,
  isObject,
  type JsonObject,
  type OperationName,
} from "../../../protocol/index.ts";
import type { RequestLine, TrafficIds } from "../../../observe/trace/index.ts";
import type { ProtocolVersion, RestDialect } from "../../../wire/index.ts";
import * as v0_3 from "../../../wire/v0_3/index.ts";
import * as v1 from "../../../wire/v1/index.ts";

/** What a request asks for, as far as its method, path, headers, and body show. */
export interface CallDescription {
  readonly binding: RequestLine["binding"];
  readonly protocolVersion?: ProtocolVersion;
  /** The A2A operation, or undefined for requests that are not A2A. */
  readonly a2aOperation?: OperationName;
  /** The A2A operation, the unknown JSON-RPC method, or the HTTP method. */
  readonly operation: string;
  readonly ids: Omit<TrafficIds, "agent">;
  /** Ids of the tasks to which the message refers. */
  readonly referenceTaskIds?: readonly string[];
  /** The sequence number after which a subscription resumes. */
  readonly after?: number;
}

/** The parts of an HTTP request that identify the operation. */
export interface DescribableRequest {
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  readonly header: (name: string) => string | undefined;
  /** The parsed JSON body, or undefined if the body is empty, too long, or no JSON. */
  readonly body: unknown;
}

/** Describes an HTTP request, which can also be a request that is not A2A. */
export function describeHttpRequest(request: DescribableRequest): CallDescription {
  const { method, body } = request;
  if (method === "POST" && isObject(body) && "jsonrpc" in body && typeof body["method"] === "string")
    return describeJsonRpcRequest(body["method"], body["params"], request);
  return describeRestRequest(request) ?? { binding: "HTTP", operation: method, ids: {} };
}

function describeJsonRpcRequest(
  method: string,
  params: unknown,
  request: DescribableRequest,
): CallDescription {
  const v1Operation = v1.jsonRpcDialect.findOperation(method);
  const operation = v1Operation ?? v0_3.jsonRpcDialect.findOperation(method);
  if (operation === undefined) return { binding: "JSONRPC", operation: method, ids: {} };
  return {
    binding: "JSONRPC",
    protocolVersion: v1Operation === undefined ? "0.3" : "1.0",
    a2aOperation: operation,
    operation,
    ...describeParams(operation, isObject(params) ? params : {}, request),
  };
}

function describeRestRequest(request: DescribableRequest): CallDescription | undefined {
  const match = matchRestOperation(request);
  if (!match) return undefined;
  const { operation, dialect, pathParams, query } = match;
  const params = {
    ...Object.fromEntries(query),
    ...(isObject(request.body) ? request.body : {}),
    ...pathParams,
  };
  return {
    binding: "HTTP+JSON",
    protocolVersion: dialect.version,
    a2aOperation: operation,
    operation,
    ...describeParams(operation, params, request),
  };
}

/** An operation of the HTTP+JSON binding. */
export interface MatchedRestOperation {
  readonly dialect: RestDialect;
  readonly operation: OperationName;
  readonly pathParams: Record<string, string>;
  readonly query: URLSearchParams;
}

/**
 * Finds the operation of an HTTP+JSON request. Tries each suffix of the path, because only the card states the path of
 * the interface.
 */
export function matchRestOperation({
  method,
  target,
  header,
}: Pick<DescribableRequest, "method" | "target" | "header">): MatchedRestOperation | undefined {
  const url = URL.parse(target, "http://host.invalid");
  if (!url) return undefined;
  const isVersion1 = header("a2a-version")?.startsWith("1.") ?? false;
  const dialects = isVersion1 ? [v1.restDialect] : [v0_3.restDialect, v1.restDialect];
  for (let at = 0; at !== -1; at = url.pathname.indexOf("/", at + 1)) {
    for (const dialect of dialects) {
      const match = dialect.matchRoute(method, url.pathname.slice(at));
      if (match && "operation" in match)
        return { dialect, operation: match.operation, pathParams: match.pathParams, query: url.searchParams };
    }
  }
  return undefined;
}

/** Operations whose parameter `id` is the id of a task. */
const OPERATIONS_BY_TASK_ID: ReadonlySet<OperationName> = new Set([
  "GetTask",
  "CancelTask",
  "SubscribeToTask",
]);

/** Finds the ids in the parameters of an operation, in the JSON of any version. */
export function describeParams(
  operation: OperationName,
  params: Readonly<Record<string, unknown>>,
  { header }: Pick<DescribableRequest, "header">,
): Pick<CallDescription, "ids" | "after" | "referenceTaskIds"> {
  const message = [params["message"], params["request"]].find(isObject) ?? {};
  const messageId = readId(message, "messageId", "message_id");
  const taskId =
    readId(message, "taskId", "task_id") ??
    readId(params, "taskId", "task_id") ??
    (OPERATIONS_BY_TASK_ID.has(operation) ? readId(params, "id", "id") : undefined) ??
    readTaskIdOfName(params["name"]);
  const contextId = readId(message, "contextId", "context_id") ?? readId(params, "contextId", "context_id");
  const generation = findAfterGeneration(params["metadata"]);
  const after = typeof generation === "number" ? generation : parseSequenceNumber(header("last-event-id"));
  const references: unknown = message["referenceTaskIds"] ?? message["reference_task_ids"];
  const referenceTaskIds = Array.isArray(references)
    ? references.filter((id): id is string => typeof id === "string")
    : [];
  return {
    ids: omitUndefined({ message_id: messageId, task_id: taskId, context_id: contextId }),
    ...(referenceTaskIds.length > 0 ? { referenceTaskIds } : {}),
    ...omitUndefined({ after }),
  };
}

function readId(
  from: Readonly<Record<string, unknown>>,
  name: string,
  protoName: string,
): string | undefined {
  const id = from[name] ?? from[protoName];
  return typeof id === "string" && id !== "" ? id : undefined;
}

/** Returns the task id in a resource name of the A2A 0.3 proto, such as `tasks/ID`. */
function readTaskIdOfName(name: unknown): string | undefined {
  return typeof name === "string" ? /^tasks\/([^/]+)/.exec(name)?.[1] : undefined;
}

/** Returns the number, or `undefined` if the text is not a sequence number. */
export function parseSequenceNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Parses JSON of a recorded body, and returns `undefined` for other texts. */
export function parseRecordedJson(bytes: Uint8Array): JsonObject | undefined {
  if (bytes.length === 0) return undefined;
  try {
    const json: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isObject(json) ? json : undefined;
  } catch {
    return undefined;
  }
}
