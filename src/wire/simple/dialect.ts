import type { LogEvent, OperationName, Operations } from "../../protocol/index.ts";
import type { Codec, EventWriter, JsonRpcDialect } from "../dialect.ts";
import { toSimpleError } from "./errors.ts";
import { writeEvent, writeFailure } from "./events.ts";
import { readCreate, readGet, readSend, simpleMethodOf, type SimpleMethod } from "./read.ts";
import { writeCreated, writeSent, writeTask } from "./write.ts";

/** What the translation of a request is given beside it. */
export interface SimpleContext {
  /** The agent's id, as tasks name it. */
  readonly agentId: string;
  /** An id for a message that comes without one. */
  readonly newId: () => string;
  /** Whether 0.3 takes messages without an id here: then a message is the guide's only by what it has beside it. */
  readonly autoMessageId?: boolean;
}

/** The dialect for one request; undefined for a request that is not the guide's. */
export function jsonRpcFor(
  method: string,
  params: unknown,
  context: SimpleContext,
): JsonRpcDialect | undefined {
  const known = simpleMethodOf(method, params, context.autoMessageId);
  if (!known) return undefined;
  const { operation, ...codec } = CALLS[known](context);
  return {
    ...codec,
    version: "0.3",
    operationOf: () => operation,
    encodeEvent: ({ json }) => json,
    encodeError: (id, error) => JSON.stringify({ jsonrpc: "2.0", id, error: toSimpleError(error) }),
    events: answer,
    ...(known === "tasks/create" ? { needsTask: true } : {}),
  };
}

/** The stream that answers a message: it ends where the agent asks for input, as A2A's does. */
const answer: EventWriter = {
  frame: (event) => writeEvent(event, true),
  failure: writeFailure,
};

/** The events of a task, from whatever it began with to its end. */
export const taskEvents: Pick<Codec, "decodeParams"> & EventWriter = {
  decodeParams: call("SubscribeToTask", { read: readGet, write: (event) => event }).decodeParams,
  frame: (event: LogEvent) => writeEvent(event, false),
  failure: writeFailure,
};

interface Call extends Pick<Codec, "decodeParams" | "encodeResult"> {
  readonly operation: OperationName;
}

const CALLS: Readonly<Record<SimpleMethod, (context: SimpleContext) => Call>> = {
  "tasks/create": ({ agentId, newId }) =>
    call("SendMessage", {
      read: (params) => readCreate(params, newId()),
      write: (result) => ("task" in result ? writeCreated(result.task, agentId) : writeSent(result, agentId)),
    }),
  "tasks/get": ({ agentId }) => call("GetTask", { read: readGet, write: (task) => writeTask(task, agentId) }),
  "message/send": ({ agentId, newId }) =>
    call("SendMessage", {
      read: (params) => readSend(params, newId),
      write: (result) => writeSent(result, agentId),
    }),
  "message/stream": ({ newId }) =>
    call("SendStreamingMessage", { read: (params) => readSend(params, newId), write: (event) => event }),
};

interface Translation<O extends OperationName> {
  readonly read: (params: unknown) => Operations[O]["params"];
  readonly write: (result: Operations[O]["result"]) => object;
}

/** How one operation is read and written; it is asked for no other. */
function call<O extends OperationName>(operation: O, { read, write }: Translation<O>): Call {
  return {
    operation,
    decodeParams: (_operation, params) => read(params),
    encodeResult: (_operation, result) => JSON.stringify(write(result)),
  };
}
