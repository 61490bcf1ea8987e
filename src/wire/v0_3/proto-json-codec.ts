import type { OperationName, Operations, EventTextEncoder, AgentCard } from "../../protocol/index.ts";
import type { OperationCodec } from "../dialect.ts";
import type { PeerLeniency } from "../leniency.ts";
import {
  decodeRequestStrictly,
  decodeResponseTolerantly,
  type DecodingSchema,
} from "../proto-json-schema.ts";
import { type OperationSchemas, UNSUPPORTED_OPERATION_SCHEMA } from "./decode.ts";
import { isLastEvent } from "./is-last-event.ts";
import { encodeProtoParams, toProtoEvent, toProtoResult } from "./proto-encode.ts";
import type { ProtoFileBytes } from "./proto-file-bytes.ts";
import * as schemas from "./proto-schema.ts";
import { ANY_TO_EMPTY_OBJECT_SCHEMA } from "../v1/schema.ts";
import { SECURITY_REQUIREMENT_SCHEMA, SECURITY_SCHEME_SCHEMA } from "../v1/card-schema.ts";
import { createAgentCardSchema03 } from "./card-schema.ts";

/**
 * Schema for the agent card in the proto of 0.3. In the proto, an agent card has the members of the 0.3 JSON,
 * but the security types of 1.0.
 */
const PROTO_AGENT_CARD_SCHEMA: DecodingSchema<AgentCard> = createAgentCardSchema03({
  scheme: SECURITY_SCHEME_SCHEMA,
  security: SECURITY_REQUIREMENT_SCHEMA,
});

const PROTO_PARAMS_SCHEMAS: OperationSchemas<"params"> = {
  SendMessage: schemas.PROTO_SEND_MESSAGE_REQUEST_SCHEMA,
  SendStreamingMessage: schemas.PROTO_SEND_MESSAGE_REQUEST_SCHEMA,
  GetTask: schemas.PROTO_GET_TASK_REQUEST_SCHEMA,
  ListTasks: UNSUPPORTED_OPERATION_SCHEMA,
  CancelTask: schemas.PROTO_CANCEL_TASK_REQUEST_SCHEMA,
  SubscribeToTask: schemas.PROTO_TASK_SUBSCRIPTION_REQUEST_SCHEMA,
  GetExtendedAgentCard: ANY_TO_EMPTY_OBJECT_SCHEMA,
  CreateTaskPushNotificationConfig: schemas.PROTO_CREATE_PUSH_CONFIG_REQUEST_SCHEMA,
  GetTaskPushNotificationConfig: schemas.PROTO_PUSH_CONFIG_REQUEST_SCHEMA,
  ListTaskPushNotificationConfigs: schemas.PROTO_LIST_PUSH_CONFIGS_REQUEST_SCHEMA,
  DeleteTaskPushNotificationConfig: schemas.PROTO_PUSH_CONFIG_REQUEST_SCHEMA,
};

const PROTO_RESULT_SCHEMAS: OperationSchemas<"result"> = {
  SendMessage: schemas.PROTO_SEND_MESSAGE_RESPONSE_SCHEMA,
  SendStreamingMessage: schemas.PROTO_STREAM_RESPONSE_SCHEMA,
  GetTask: schemas.PROTO_TASK_SCHEMA,
  ListTasks: UNSUPPORTED_OPERATION_SCHEMA,
  CancelTask: schemas.PROTO_TASK_SCHEMA,
  SubscribeToTask: schemas.PROTO_STREAM_RESPONSE_SCHEMA,
  GetExtendedAgentCard: PROTO_AGENT_CARD_SCHEMA,
  CreateTaskPushNotificationConfig: schemas.PROTO_TASK_PUSH_CONFIG_SCHEMA,
  GetTaskPushNotificationConfig: schemas.PROTO_TASK_PUSH_CONFIG_SCHEMA,
  ListTaskPushNotificationConfigs: schemas.PROTO_LIST_PUSH_CONFIGS_RESPONSE_SCHEMA,
  DeleteTaskPushNotificationConfig: ANY_TO_EMPTY_OBJECT_SCHEMA,
};

/** The client's half of a codec, which encodes parameters and decodes results. */
export interface ClientCodec {
  /**
   * Encodes the parameters of a request. Throws `UNSUPPORTED_OPERATION` if the protocol version does not
   * have the operation.
   */
  encodeParams<O extends OperationName>(operation: O, params: Operations[O]["params"]): object;
  /**
   * Decodes the result of an operation in tolerant mode. Throws `INVALID_AGENT_RESPONSE` if the result is
   * unusable.
   */
  decodeResult<O extends OperationName>(
    operation: O,
    json: unknown,
    leniency?: PeerLeniency,
  ): Operations[O]["result"];
}

const PROTO_EVENT_SERIALIZERS: Readonly<Record<ProtoFileBytes, EventTextEncoder>> = {
  bytes: (event) => JSON.stringify(toProtoEvent(event, "bytes")),
  "base64-text": (event) => JSON.stringify(toProtoEvent(event, "base64-text")),
};

/**
 * Creates a codec for the ProtoJSON messages of the 0.3 proto. The messages are binary over gRPC, and JSON in
 * HTTP+JSON responses. A request identifies a task by resource name, as in the request messages of the proto.
 * `fileBytes` is the form of the files in results. The codec decodes both forms.
 */
export const createProtoJsonCodec = (fileBytes: ProtoFileBytes): OperationCodec & ClientCodec => ({
  decodeParams: (operation, json, leniency) =>
    decodeRequestStrictly(PROTO_PARAMS_SCHEMAS[operation], json, "params", leniency),
  decodeResult: (operation, json, leniency) =>
    decodeResponseTolerantly(PROTO_RESULT_SCHEMAS[operation], json, "result", "tolerant", leniency),
  encodeParams: encodeProtoParams,
  toResultJson: (operation, result) => toProtoResult(operation, result, fileBytes),
  encodeEvent: (event) => event.encodeWith(PROTO_EVENT_SERIALIZERS[fileBytes]),
  isLastEvent,
});

/** The codec that writes files as the proto defines. */
export const protoJsonCodec: OperationCodec & ClientCodec = createProtoJsonCodec("bytes");
