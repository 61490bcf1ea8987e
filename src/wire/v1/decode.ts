import type { AgentCard, OperationName, Operations } from "../../protocol/index.ts";
import { decodeStrictly, decodeTolerantly, type Type } from "../proto-json.ts";
import { AGENT_CARD } from "./card-schema.ts";
import {
  CANCEL_TASK_REQUEST,
  CREATE_PUSH_CONFIG_REQUEST,
  DELETE_PUSH_CONFIG_REQUEST,
  EMPTY,
  GET_PUSH_CONFIG_REQUEST,
  LIST_PUSH_CONFIGS_REQUEST,
  LIST_PUSH_CONFIGS_RESPONSE,
  TASK_PUSH_NOTIFICATION_CONFIG,
  GET_EXTENDED_AGENT_CARD_REQUEST,
  GET_TASK_REQUEST,
  LIST_TASKS_REQUEST,
  LIST_TASKS_RESPONSE,
  SEND_MESSAGE_REQUEST,
  SEND_MESSAGE_RESPONSE,
  STREAM_RESPONSE,
  SUBSCRIBE_TO_TASK_REQUEST,
  TASK,
} from "./schema.ts";

const PARAMS: { readonly [O in OperationName]: Type<Operations[O]["params"]> } = {
  SendMessage: SEND_MESSAGE_REQUEST,
  SendStreamingMessage: SEND_MESSAGE_REQUEST,
  GetTask: GET_TASK_REQUEST,
  ListTasks: LIST_TASKS_REQUEST,
  CancelTask: CANCEL_TASK_REQUEST,
  SubscribeToTask: SUBSCRIBE_TO_TASK_REQUEST,
  GetExtendedAgentCard: GET_EXTENDED_AGENT_CARD_REQUEST,
  CreateTaskPushNotificationConfig: CREATE_PUSH_CONFIG_REQUEST,
  GetTaskPushNotificationConfig: GET_PUSH_CONFIG_REQUEST,
  ListTaskPushNotificationConfigs: LIST_PUSH_CONFIGS_REQUEST,
  DeleteTaskPushNotificationConfig: DELETE_PUSH_CONFIG_REQUEST,
};

const RESULTS: { readonly [O in OperationName]: Type<Operations[O]["result"]> } = {
  SendMessage: SEND_MESSAGE_RESPONSE,
  SendStreamingMessage: STREAM_RESPONSE,
  GetTask: TASK,
  ListTasks: LIST_TASKS_RESPONSE,
  CancelTask: TASK,
  SubscribeToTask: STREAM_RESPONSE,
  GetExtendedAgentCard: AGENT_CARD,
  CreateTaskPushNotificationConfig: TASK_PUSH_NOTIFICATION_CONFIG,
  GetTaskPushNotificationConfig: TASK_PUSH_NOTIFICATION_CONFIG,
  ListTaskPushNotificationConfigs: LIST_PUSH_CONFIGS_RESPONSE,
  DeleteTaskPushNotificationConfig: EMPTY,
};

/** True for the name of an operation that this library serves. */
export function isOperation(name: string): name is OperationName {
  return Object.hasOwn(PARAMS, name);
}

/** The parameters of a request; throws INVALID_PARAMS that names every violation with its path. */
export function decodeParams<O extends OperationName>(operation: O, json: unknown): Operations[O]["params"] {
  return decodeStrictly(PARAMS[operation], json, "params");
}

/** An agent's answer, or one element of its stream. Takes what can be used; throws INVALID_AGENT_RESPONSE. */
export function decodeResult<O extends OperationName>(operation: O, json: unknown): Operations[O]["result"] {
  return decodeTolerantly(RESULTS[operation], json, "result");
}

/** An agent card. One of an older protocol comes out with no interfaces. */
export function decodeCard(json: unknown): AgentCard {
  return decodeTolerantly(AGENT_CARD, json, "card");
}
