import type { OperationName, Operations } from "../../protocol/index.ts";
import { decodeStrictly, decodeTolerantly, type Type } from "../proto-json.ts";
import { CARD } from "./card-schema.ts";
import { notIn03 } from "./encode.ts";
import {
  CANCEL_TASK,
  DELETE_PUSH_CONFIG,
  GET_PUSH_CONFIG,
  GET_TASK,
  LIST_PUSH_CONFIGS,
  NO_PARAMS,
  PUSH_CONFIGS,
  RESUBSCRIBE,
  SEND_MESSAGE,
  SEND_MESSAGE_RESPONSE,
  SET_PUSH_CONFIG,
  STREAM_RESPONSE,
  TASK,
  TASK_PUSH_CONFIG,
} from "./schema.ts";

/** A type for something of each operation. */
export type Table<About extends "params" | "result"> = {
  readonly [O in OperationName]: Type<Operations[O][About]>;
};

/** 0.3 has no such operation, so nobody can have sent or answered it. */
export const NOTHING: Type<never> = { decode: notIn03 };

const PARAMS: Table<"params"> = {
  SendMessage: SEND_MESSAGE,
  SendStreamingMessage: SEND_MESSAGE,
  GetTask: GET_TASK,
  ListTasks: NOTHING,
  CancelTask: CANCEL_TASK,
  SubscribeToTask: RESUBSCRIBE,
  GetExtendedAgentCard: NO_PARAMS,
  CreateTaskPushNotificationConfig: SET_PUSH_CONFIG,
  GetTaskPushNotificationConfig: GET_PUSH_CONFIG,
  ListTaskPushNotificationConfigs: LIST_PUSH_CONFIGS,
  DeleteTaskPushNotificationConfig: DELETE_PUSH_CONFIG,
};

const RESULTS: Table<"result"> = {
  SendMessage: SEND_MESSAGE_RESPONSE,
  SendStreamingMessage: STREAM_RESPONSE,
  GetTask: TASK,
  ListTasks: NOTHING,
  CancelTask: TASK,
  SubscribeToTask: STREAM_RESPONSE,
  GetExtendedAgentCard: CARD,
  CreateTaskPushNotificationConfig: TASK_PUSH_CONFIG,
  GetTaskPushNotificationConfig: TASK_PUSH_CONFIG,
  ListTaskPushNotificationConfigs: PUSH_CONFIGS,
  DeleteTaskPushNotificationConfig: NO_PARAMS,
};

/** The parameters of a request; throws INVALID_PARAMS that names every violation with its path. */
export function decodeParams<O extends OperationName>(operation: O, json: unknown): Operations[O]["params"] {
  const params: Operations[O]["params"] = decodeStrictly(PARAMS[operation], json, "params");
  return params;
}

/** An agent's answer, or one element of its stream. Takes what can be used; throws INVALID_AGENT_RESPONSE. */
export function decodeResult<O extends OperationName>(operation: O, json: unknown): Operations[O]["result"] {
  return decodeTolerantly(RESULTS[operation], json, "result");
}
