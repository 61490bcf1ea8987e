import type { OperationName, Operations } from "../../protocol/index.ts";
import { decodeStrictly, decodeTolerantly, type Schema } from "../proto-json-schema.ts";
import { AGENT_CARD_SCHEMA } from "./card-schema.ts";
import { throwListTasksUnsupported } from "./encode.ts";
import {
  CANCEL_TASK_PARAMS_SCHEMA,
  DELETE_PUSH_CONFIG_PARAMS_SCHEMA,
  GET_PUSH_CONFIG_PARAMS_SCHEMA,
  GET_TASK_PARAMS_SCHEMA,
  LIST_PUSH_CONFIGS_PARAMS_SCHEMA,
  EMPTY_SCHEMA,
  LIST_PUSH_CONFIGS_RESULT_SCHEMA,
  RESUBSCRIBE_PARAMS_SCHEMA,
  SEND_MESSAGE_PARAMS_SCHEMA,
  SEND_MESSAGE_RESPONSE_SCHEMA,
  SET_PUSH_CONFIG_PARAMS_SCHEMA,
  STREAM_RESPONSE_SCHEMA,
  TASK_SCHEMA,
  TASK_PUSH_CONFIG_SCHEMA,
} from "./json-rpc-schema.ts";

/** A type for something of each operation. */
export type OperationSchemas<About extends "params" | "result"> = {
  readonly [O in OperationName]: Schema<Operations[O][About]>;
};

/** 0.3 has no such operation, so nobody can have sent or answered it. */
export const UNSUPPORTED_SCHEMA: Schema<never> = { decode: throwListTasksUnsupported };

const PARAMS_SCHEMAS: OperationSchemas<"params"> = {
  SendMessage: SEND_MESSAGE_PARAMS_SCHEMA,
  SendStreamingMessage: SEND_MESSAGE_PARAMS_SCHEMA,
  GetTask: GET_TASK_PARAMS_SCHEMA,
  ListTasks: UNSUPPORTED_SCHEMA,
  CancelTask: CANCEL_TASK_PARAMS_SCHEMA,
  SubscribeToTask: RESUBSCRIBE_PARAMS_SCHEMA,
  GetExtendedAgentCard: EMPTY_SCHEMA,
  CreateTaskPushNotificationConfig: SET_PUSH_CONFIG_PARAMS_SCHEMA,
  GetTaskPushNotificationConfig: GET_PUSH_CONFIG_PARAMS_SCHEMA,
  ListTaskPushNotificationConfigs: LIST_PUSH_CONFIGS_PARAMS_SCHEMA,
  DeleteTaskPushNotificationConfig: DELETE_PUSH_CONFIG_PARAMS_SCHEMA,
};

const RESULT_SCHEMAS: OperationSchemas<"result"> = {
  SendMessage: SEND_MESSAGE_RESPONSE_SCHEMA,
  SendStreamingMessage: STREAM_RESPONSE_SCHEMA,
  GetTask: TASK_SCHEMA,
  ListTasks: UNSUPPORTED_SCHEMA,
  CancelTask: TASK_SCHEMA,
  SubscribeToTask: STREAM_RESPONSE_SCHEMA,
  GetExtendedAgentCard: AGENT_CARD_SCHEMA,
  CreateTaskPushNotificationConfig: TASK_PUSH_CONFIG_SCHEMA,
  GetTaskPushNotificationConfig: TASK_PUSH_CONFIG_SCHEMA,
  ListTaskPushNotificationConfigs: LIST_PUSH_CONFIGS_RESULT_SCHEMA,
  DeleteTaskPushNotificationConfig: EMPTY_SCHEMA,
};

/** The parameters of a request; throws INVALID_PARAMS that names every violation with its path. */
export function decodeParams<O extends OperationName>(operation: O, json: unknown): Operations[O]["params"] {
  const params: Operations[O]["params"] = decodeStrictly(PARAMS_SCHEMAS[operation], json, "params");
  return params;
}

/** An agent's answer, or one element of its stream. Takes what can be used; throws INVALID_AGENT_RESPONSE. */
export function decodeResult<O extends OperationName>(operation: O, json: unknown): Operations[O]["result"] {
  return decodeTolerantly(RESULT_SCHEMAS[operation], json, "result");
}
