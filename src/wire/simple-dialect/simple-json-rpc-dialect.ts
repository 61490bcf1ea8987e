import type { LogEvent, OperationName, Operations } from "../../protocol/index.ts";
import type { OperationCodec, SseEventEncoder, JsonRpcDialect } from "../dialect.ts";
import { toSimpleError } from "./simple-error.ts";
import { encodeEventFrames, encodeFailureFrame } from "./encode-events.ts";
import {
  decodeCreateTask,
  decodeGetTask,
  decodeSendMessage,
  findSimpleMethod,
  type SimpleMethod,
} from "./decode-params.ts";
import { encodeCreatedTask, encodeSendResponse, encodeTask } from "./encode.ts";

/** What the translation of a request is given beside it. */
export interface SimpleDialectContext {
  /** The agent's id, as tasks name it. */
  readonly agentId: string;
  /** An id for a message that comes without one. */
  readonly createMessageId: () => string;
  /** Whether 0.3 takes messages without an id here: then a message is the guide's only by what it has beside it. */
  readonly autoMessageId?: boolean;
}

/** The dialect for one request; undefined for a request that is not the guide's. */
export function findSimpleDialect(
  method: string,
  params: unknown,
  context: SimpleDialectContext,
): JsonRpcDialect | undefined {
  const known = findSimpleMethod(method, params, context.autoMessageId);
  if (!known) return undefined;
  const { operation, ...codec } = CODECS_BY_METHOD[known](context);
  return {
    ...codec,
    version: "0.3",
    findOperation: () => operation,
    encodeEvent: ({ json }) => json,
    encodeError: (id, error) => JSON.stringify({ jsonrpc: "2.0", id, error: toSimpleError(error) }),
    eventEncoder: answerEventEncoder,
    ...(known === "tasks/create" ? { needsTask: true } : {}),
  };
}

/** The stream that answers a message: it ends where the agent asks for input, as A2A's does. */
const answerEventEncoder: SseEventEncoder = {
  encodeEvent: (event) => encodeEventFrames(event, true),
  encodeFailure: encodeFailureFrame,
};

/** The events of a task, from whatever it began with to its end. */
export const taskEventCodec: Pick<OperationCodec, "decodeParams"> & SseEventEncoder = {
  decodeParams: createOperationCodec("SubscribeToTask", {
    decodeParams: decodeGetTask,
    toResult: (event) => event,
  }).decodeParams,
  encodeEvent: (event: LogEvent) => encodeEventFrames(event, false),
  encodeFailure: encodeFailureFrame,
};

interface SimpleOperationCodec extends Pick<OperationCodec, "decodeParams" | "encodeResult"> {
  readonly operation: OperationName;
}

const CODECS_BY_METHOD: Readonly<
  Record<SimpleMethod, (context: SimpleDialectContext) => SimpleOperationCodec>
> = {
  "tasks/create": ({ agentId, createMessageId: newId }) =>
    createOperationCodec("SendMessage", {
      decodeParams: (params) => decodeCreateTask(params, newId()),
      toResult: (result) =>
        "task" in result ? encodeCreatedTask(result.task, agentId) : encodeSendResponse(result, agentId),
    }),
  "tasks/get": ({ agentId }) =>
    createOperationCodec("GetTask", {
      decodeParams: decodeGetTask,
      toResult: (task) => encodeTask(task, agentId),
    }),
  "message/send": ({ agentId, createMessageId: newId }) =>
    createOperationCodec("SendMessage", {
      decodeParams: (params) => decodeSendMessage(params, newId),
      toResult: (result) => encodeSendResponse(result, agentId),
    }),
  "message/stream": ({ createMessageId: newId }) =>
    createOperationCodec("SendStreamingMessage", {
      decodeParams: (params) => decodeSendMessage(params, newId),
      toResult: (event) => event,
    }),
};

interface OperationTranslation<O extends OperationName> {
  readonly decodeParams: (params: unknown) => Operations[O]["params"];
  readonly toResult: (result: Operations[O]["result"]) => object;
}

/** How one operation is read and written; it is asked for no other. */
function createOperationCodec<O extends OperationName>(
  operation: O,
  { decodeParams: read, toResult: write }: OperationTranslation<O>,
): SimpleOperationCodec {
  return {
    operation,
    decodeParams: (_operation, params) => read(params),
    encodeResult: (_operation, result) => JSON.stringify(write(result)),
  };
}
