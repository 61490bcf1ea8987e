import type { OperationName, Operations } from "../../protocol/index.ts";
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
  const { operation, ...codec } = CODECS_BY_METHOD[simpleMethod](context);
  return {
    ...codec,
    version: "0.3",
    findOperation: () => operation,
    encodeEvent: ({ jsonText: json }) => json,
    encodeError: (id, error) => JSON.stringify({ jsonrpc: "2.0", id, error: toSimpleError(error) }),
    eventEncoder: EVENT_ENCODER,
    ...(simpleMethod === "tasks/create" ? { needsTask: true } : {}),
  };
}

const EVENT_ENCODER: SseEventEncoder = {
  encodeEvent: encodeEventAsSseFrames,
  encodeFailure: encodeFailureFrame,
  encodeEnd: encodeEndOfInterruptedTask,
};

/** Codec for the event stream of a task, which ends when the task ends or waits for its user. */
export const taskEventStreamCodec: Pick<OperationCodec, "decodeParams"> & SseEventEncoder = {
  decodeParams: createSimpleOperationCodec("SubscribeToTask", {
    decodeParams: decodeGetTask,
    toResult: (event) => event,
  }).decodeParams,
  ...EVENT_ENCODER,
};

interface SimpleOperationCodec extends Pick<OperationCodec, "decodeParams" | "toResultJson"> {
  readonly operation: OperationName;
}

const CODECS_BY_METHOD: Readonly<
  Record<SimpleMethod, (context: SimpleDialectOptions) => SimpleOperationCodec>
> = {
  "tasks/create": ({ agentId, createMessageId }) =>
    createSimpleOperationCodec("SendMessage", {
      decodeParams: (params) => decodeCreateTask(params, createMessageId()),
      toResult: (result) =>
        "task" in result ? encodeCreatedTask(result.task, agentId) : encodeSendResponse(result, agentId),
    }),
  "tasks/get": ({ agentId }) =>
    createSimpleOperationCodec("GetTask", {
      decodeParams: decodeGetTask,
      toResult: (task) => encodeTask(task, agentId),
    }),
  "message/send": ({ agentId, createMessageId }) =>
    createSimpleOperationCodec("SendMessage", {
      decodeParams: (params) => decodeSendMessage(params, createMessageId),
      toResult: (result) => encodeSendResponse(result, agentId),
    }),
  "message/stream": ({ createMessageId }) =>
    createSimpleOperationCodec("SendStreamingMessage", {
      decodeParams: (params) => decodeSendMessage(params, createMessageId),
      toResult: (event) => event,
    }),
};

interface SimpleOperationConverters<O extends OperationName> {
  readonly decodeParams: (params: unknown) => Operations[O]["params"];
  readonly toResult: (result: Operations[O]["result"]) => object;
}

/** Creates the simple-dialect codec for one operation. The codec ignores its operation argument. */
function createSimpleOperationCodec<O extends OperationName>(
  operation: O,
  { decodeParams, toResult }: SimpleOperationConverters<O>,
): SimpleOperationCodec {
  return {
    operation,
    decodeParams: (_operation, params) => decodeParams(params),
    toResultJson: (_operation, result) => toResult(result),
  };
}
