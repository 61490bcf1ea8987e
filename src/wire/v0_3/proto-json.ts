import type { OperationName, Operations, WriteEvent } from "../../protocol/index.ts";
import type { Codec } from "../dialect.ts";
import { decodeStrictly, decodeTolerantly } from "../proto-json.ts";
import { type Table, NOTHING } from "./decode.ts";
import { isLast } from "./is-last.ts";
import { PROTO_CARD } from "./proto-card-schema.ts";
import { encodeParams, encodeResult, toEvent } from "./proto-encode.ts";
import {
  CANCEL_TASK_REQUEST,
  CREATE_PUSH_CONFIG_REQUEST,
  GET_TASK_REQUEST,
  LIST_PUSH_CONFIGS_REQUEST,
  LIST_PUSH_CONFIGS_RESPONSE,
  PUSH_CONFIG_REQUEST,
  SEND_MESSAGE_REQUEST,
  SEND_MESSAGE_RESPONSE,
  STREAM_RESPONSE,
  TASK,
  TASK_PUSH_CONFIG,
  TASK_SUBSCRIPTION_REQUEST,
} from "./proto-schema.ts";
import { NO_PARAMS } from "./schema.ts";

const PARAMS: Table<"params"> = {
  SendMessage: SEND_MESSAGE_REQUEST,
  SendStreamingMessage: SEND_MESSAGE_REQUEST,
  GetTask: GET_TASK_REQUEST,
  ListTasks: NOTHING,
  CancelTask: CANCEL_TASK_REQUEST,
  SubscribeToTask: TASK_SUBSCRIPTION_REQUEST,
  GetExtendedAgentCard: NO_PARAMS,
  CreateTaskPushNotificationConfig: CREATE_PUSH_CONFIG_REQUEST,
  GetTaskPushNotificationConfig: PUSH_CONFIG_REQUEST,
  ListTaskPushNotificationConfigs: LIST_PUSH_CONFIGS_REQUEST,
  DeleteTaskPushNotificationConfig: PUSH_CONFIG_REQUEST,
};

const RESULTS: Table<"result"> = {
  SendMessage: SEND_MESSAGE_RESPONSE,
  SendStreamingMessage: STREAM_RESPONSE,
  GetTask: TASK,
  ListTasks: NOTHING,
  CancelTask: TASK,
  SubscribeToTask: STREAM_RESPONSE,
  GetExtendedAgentCard: PROTO_CARD,
  CreateTaskPushNotificationConfig: TASK_PUSH_CONFIG,
  GetTaskPushNotificationConfig: TASK_PUSH_CONFIG,
  ListTaskPushNotificationConfigs: LIST_PUSH_CONFIGS_RESPONSE,
  DeleteTaskPushNotificationConfig: NO_PARAMS,
};

/** What a codec is to a client. */
export interface ClientCodec {
  /** Throws UNSUPPORTED_OPERATION for an operation that the version does not have. */
  encodeParams<O extends OperationName>(operation: O, params: Operations[O]["params"]): object;
  /** Takes what can be used; throws INVALID_AGENT_RESPONSE. */
  decodeResult<O extends OperationName>(operation: O, json: unknown): Operations[O]["result"];
}

const write: WriteEvent = (event) => JSON.stringify(toEvent(event));

/**
 * The messages of 0.3's proto as ProtoJSON: what gRPC carries in binary, and what HTTP+JSON answers with. Requests are
 * whole request messages, so a task is named by its resource name.
 */
export const protoJson: Codec & ClientCodec = {
  decodeParams<O extends OperationName>(operation: O, json: unknown): Operations[O]["params"] {
    const params: Operations[O]["params"] = decodeStrictly(PARAMS[operation], json, "params");
    return params;
  },
  decodeResult: (operation, json) => decodeTolerantly(RESULTS[operation], json, "result"),
  encodeParams,
  encodeResult,
  encodeEvent: (event) => event.writtenBy(write),
  isLast,
};
