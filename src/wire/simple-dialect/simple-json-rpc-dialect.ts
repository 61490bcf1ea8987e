import type { OperationName, Operations, SendMessageResponse, Task } from "../../protocol/index.ts";
import type { OperationCodec, SseEventEncoder, JsonRpcDialect } from "../dialect.ts";
import {
  toSimpleError,
  encodeEndOfInterruptedTask,
  encodeEventAsSseFrames,
  encodeFailureFrame,
  encodeCreatedTask,
  encodeSendResponse,
  encodeTask,
} from "./encode.ts";
import {
  decodeCreateTask,
  decodeGetTask,
  decodeSendMessage,
  findSimpleMethodOfRequest,
  type SimpleMethod,
} from "./decode-params.ts";

/** Context that the codec needs to translate a request of the simple dialect. */
interface SimpleDialectOptions {
  /** Agent id for the tasks in responses. */
  readonly agentId: string;
  /** Creates an id for a message that has no id. */
  readonly createMessageId: () => string;
  /**
   * If `true`, the server accepts 0.3 messages without an id. Only members outside the message then
   * identify the simple dialect.
   */
  readonly autoMessageId?: boolean;
}

/**
 * Creates the simple-dialect codec for one request. Returns `undefined` if the request belongs to A2A 0.3.
 */
export function createSimpleDialect(
  method: string,
  params: unknown,
  context: SimpleDialectOptions,
): JsonRpcDialect | undefined {
  const simpleMethod = findSimpleMethodOfRequest(method, params, context.autoMessageId);
  if (!simpleMethod) return undefined;
  const { agentId, createMessageId } = context;
  return {
    version: "0.3",
    findOperation: () => OPERATIONS_BY_METHOD[simpleMethod],
    decodeParams: (_operation, given) => {
      if (simpleMethod === "tasks/create") return decodeCreateTask(given, createMessageId());
      return simpleMethod === "tasks/get" ? decodeGetTask(given) : decodeSendMessage(given, createMessageId);
    },
    toResultJson: (_operation, result) => toSimpleResult(simpleMethod, result, agentId),
    encodeEvent: ({ jsonText: json }) => json,
    encodeError: (id, error) => JSON.stringify({ jsonrpc: "2.0", id, error: toSimpleError(error) }),
    eventEncoder: EVENT_ENCODER,
    ...(simpleMethod === "tasks/create" ? { needsTask: true } : {}),
  };
}

const OPERATIONS_BY_METHOD: Readonly<Record<SimpleMethod, OperationName>> = {
  "tasks/create": "SendMessage",
  "tasks/get": "GetTask",
  "message/send": "SendMessage",
  "message/stream": "SendStreamingMessage",
};

/** Converts the result of a request that is not answered with a stream. */
function toSimpleResult(
  method: SimpleMethod,
  result: Operations[OperationName]["result"],
  agentId: string,
): object {
  if (method === "tasks/get") return encodeTask(result as Task, agentId);
  const response = result as SendMessageResponse;
  return method === "tasks/create" && "task" in response
    ? encodeCreatedTask(response.task, agentId)
    : encodeSendResponse(response, agentId);
}

const EVENT_ENCODER: SseEventEncoder = {
  encodeEvent: encodeEventAsSseFrames,
  encodeFailure: encodeFailureFrame,
  encodeEnd: encodeEndOfInterruptedTask,
};

/** Codec for the event stream of a task, which ends when the task ends or waits for its user. */
export const taskEventStreamCodec: Pick<OperationCodec, "decodeParams"> & SseEventEncoder = {
  decodeParams: (_operation, params) => decodeGetTask(params),
  ...EVENT_ENCODER,
};
