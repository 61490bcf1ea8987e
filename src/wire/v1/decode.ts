import type { AgentCard, OperationName, Operations } from "../../protocol/index.ts";
import {
  decodeRequestStrictly,
  decodeResponseTolerantly,
  type DecodingSchema,
} from "../proto-json-schema.ts";
import type { PeerLeniency } from "../leniency.ts";
import { AGENT_CARD_SCHEMA } from "./card-schema.ts";
import * as schemas from "./schema.ts";

const PARAMS_SCHEMAS: { readonly [O in OperationName]: DecodingSchema<Operations[O]["params"]> } = {
  SendMessage: schemas.SEND_MESSAGE_REQUEST_SCHEMA,
  SendStreamingMessage: schemas.SEND_MESSAGE_REQUEST_SCHEMA,
  GetTask: schemas.GET_TASK_REQUEST_SCHEMA,
  ListTasks: schemas.LIST_TASKS_REQUEST_SCHEMA,
  CancelTask: schemas.CANCEL_TASK_REQUEST_SCHEMA,
  SubscribeToTask: schemas.SUBSCRIBE_TO_TASK_REQUEST_SCHEMA,
  GetExtendedAgentCard: schemas.GET_EXTENDED_AGENT_CARD_REQUEST_SCHEMA,
  CreateTaskPushNotificationConfig: schemas.CREATE_PUSH_CONFIG_REQUEST_SCHEMA,
  GetTaskPushNotificationConfig: schemas.GET_PUSH_CONFIG_REQUEST_SCHEMA,
  ListTaskPushNotificationConfigs: schemas.LIST_PUSH_CONFIGS_REQUEST_SCHEMA,
  DeleteTaskPushNotificationConfig: schemas.DELETE_PUSH_CONFIG_REQUEST_SCHEMA,
};

const RESULT_SCHEMAS: { readonly [O in OperationName]: DecodingSchema<Operations[O]["result"]> } = {
  SendMessage: schemas.SEND_MESSAGE_RESPONSE_SCHEMA,
  SendStreamingMessage: schemas.STREAM_RESPONSE_SCHEMA,
  GetTask: schemas.TASK_SCHEMA,
  ListTasks: schemas.LIST_TASKS_RESPONSE_SCHEMA,
  CancelTask: schemas.TASK_SCHEMA,
  SubscribeToTask: schemas.STREAM_RESPONSE_SCHEMA,
  GetExtendedAgentCard: AGENT_CARD_SCHEMA,
  CreateTaskPushNotificationConfig: schemas.TASK_PUSH_CONFIG_SCHEMA,
  GetTaskPushNotificationConfig: schemas.TASK_PUSH_CONFIG_SCHEMA,
  ListTaskPushNotificationConfigs: schemas.LIST_PUSH_CONFIGS_RESPONSE_SCHEMA,
  DeleteTaskPushNotificationConfig: schemas.ANY_TO_EMPTY_OBJECT_SCHEMA,
};

/** Returns `true` if a string is the name of an operation that Colloquy supports. */
export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(PARAMS_SCHEMAS, name);
}

/**
 * Decodes the parameters of an A2A 1.0 request. Throws an `INVALID_PARAMS` error that lists every violation
 * with its path.
 */
export function decodeParams<O extends OperationName>(operation: O, json: unknown): Operations[O]["params"] {
  return decodeRequestStrictly(PARAMS_SCHEMAS[operation], json, "params");
}

/**
 * Decodes an A2A 1.0 result, or one event of a 1.0 stream, in tolerant mode. Throws
 * `INVALID_AGENT_RESPONSE` if the result or event is unusable.
 */
export function decodeResult<O extends OperationName>(
  operation: O,
  json: unknown,
  leniency?: PeerLeniency,
): Operations[O]["result"] {
  return decodeResponseTolerantly(RESULT_SCHEMAS[operation], json, "result", "tolerant", leniency);
}

/**
 * Decodes an agent card. An agent card with an older protocol version decodes to a card without interfaces.
 */
export function decodeCard(json: unknown, leniency?: PeerLeniency): AgentCard {
  return decodeResponseTolerantly(AGENT_CARD_SCHEMA, json, "card", "tolerant", leniency);
}
