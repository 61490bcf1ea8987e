import type { OperationName, Operations } from "../../protocol/index.ts";
import {
  decodeRequestStrictly,
  decodeResponseTolerantly,
  type DecodingSchema,
} from "../proto-json-schema.ts";
import type { PeerLeniency } from "../leniency.ts";
import { AGENT_CARD_SCHEMA } from "./card-schema.ts";
import { throwListTasksUnsupported } from "./encode.ts";
import * as schemas from "./json-rpc-schema.ts";
import { ANY_TO_EMPTY_OBJECT_SCHEMA } from "../v1/schema.ts";

/** Schemas of the parameters or results of all operations. */
export type OperationSchemas<About extends "params" | "result"> = {
  readonly [O in OperationName]: DecodingSchema<Operations[O][About]>;
};

/**
 * Schema for an operation that 0.3 does not have. Decoding a value of an unsupported operation always
 * throws an error.
 */
export const UNSUPPORTED_OPERATION_SCHEMA: DecodingSchema<never> = { decode: throwListTasksUnsupported };

const PARAMS_SCHEMAS: OperationSchemas<"params"> = {
  SendMessage: schemas.SEND_MESSAGE_PARAMS_SCHEMA,
  SendStreamingMessage: schemas.SEND_MESSAGE_PARAMS_SCHEMA,
  GetTask: schemas.GET_TASK_PARAMS_SCHEMA,
  ListTasks: UNSUPPORTED_OPERATION_SCHEMA,
  CancelTask: schemas.CANCEL_TASK_PARAMS_SCHEMA,
  SubscribeToTask: schemas.RESUBSCRIBE_PARAMS_SCHEMA,
  GetExtendedAgentCard: ANY_TO_EMPTY_OBJECT_SCHEMA,
  CreateTaskPushNotificationConfig: schemas.SET_PUSH_CONFIG_PARAMS_SCHEMA,
  GetTaskPushNotificationConfig: schemas.GET_PUSH_CONFIG_PARAMS_SCHEMA,
  ListTaskPushNotificationConfigs: schemas.LIST_PUSH_CONFIGS_PARAMS_SCHEMA,
  DeleteTaskPushNotificationConfig: schemas.DELETE_PUSH_CONFIG_PARAMS_SCHEMA,
};

const RESULT_SCHEMAS: OperationSchemas<"result"> = {
  SendMessage: schemas.SEND_MESSAGE_RESPONSE_SCHEMA,
  SendStreamingMessage: schemas.STREAM_RESPONSE_SCHEMA,
  GetTask: schemas.TASK_SCHEMA,
  ListTasks: UNSUPPORTED_OPERATION_SCHEMA,
  CancelTask: schemas.TASK_SCHEMA,
  SubscribeToTask: schemas.STREAM_RESPONSE_SCHEMA,
  GetExtendedAgentCard: AGENT_CARD_SCHEMA,
  CreateTaskPushNotificationConfig: schemas.TASK_PUSH_CONFIG_SCHEMA,
  GetTaskPushNotificationConfig: schemas.TASK_PUSH_CONFIG_SCHEMA,
  ListTaskPushNotificationConfigs: schemas.LIST_PUSH_CONFIGS_RESULT_SCHEMA,
  DeleteTaskPushNotificationConfig: ANY_TO_EMPTY_OBJECT_SCHEMA,
};

/**
 * Decodes the parameters of a 0.3 JSON-RPC request. Throws an `INVALID_PARAMS` error that lists every
 * violation with its path.
 */
export function decodeParams<O extends OperationName>(operation: O, json: unknown): Operations[O]["params"] {
  return decodeRequestStrictly(PARAMS_SCHEMAS[operation], json, "params");
}

/**
 * Decodes a 0.3 result, or one event of a 0.3 stream, in tolerant mode. Throws `INVALID_AGENT_RESPONSE` if
 * the result or event is unusable.
 */
export function decodeResult<O extends OperationName>(
  operation: O,
  json: unknown,
  leniency?: PeerLeniency,
): Operations[O]["result"] {
  return decodeResponseTolerantly(RESULT_SCHEMAS[operation], json, "result", "tolerant", leniency);
}
