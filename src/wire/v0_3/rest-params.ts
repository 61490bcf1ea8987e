import { A2AError, type JsonValue, type OperationName } from "../../protocol/index.ts";
import { isObject } from "../error-details.ts";

/**
 * The parameters of a REST request in the shape of JSON-RPC's: from the path and the query, or from the body. What a
 * message's body looks like is for the decoder to see.
 */
export function collectRestParams(
  operation: OperationName,
  { id, configId }: Record<string, string>,
  query: URLSearchParams,
  body: unknown,
): unknown {
  if (id === undefined) return operation === "GetExtendedAgentCard" ? {} : body;
  if (operation === "CreateTaskPushNotificationConfig") return toCreatePushConfigParams(id, body);
  if (configId !== undefined) return { id, pushNotificationConfigId: configId };
  if (operation === "CancelTask") return isObject(body) ? { ...body, id } : { id };
  const historyLength = query.get("historyLength") ?? query.get("history_length");
  return operation === "GetTask" && historyLength !== null ? { id, historyLength } : { id };
}

/**
 * The three shapes in which clients send a configuration: the request of the proto, with `config`; its `config` alone,
 * which is what the proto's annotation says; and the parameters of JSON-RPC.
 */
function toCreatePushConfigParams(taskId: string, body: unknown): unknown {
  if (!isObject(body)) return body ?? { taskId };
  const given = isObject(body["config"]) ? body["config"] : body;
  if (given["taskId"] !== undefined && given["taskId"] !== taskId) {
    const description = `is ${JSON.stringify(taskId)} in the path and something else beside it; send one`;
    throw A2AError.invalidParams([{ field: "taskId", description }]);
  }
  const config = given["pushNotificationConfig"] ?? given["push_notification_config"];
  const id = body["configId"] ?? body["config_id"];
  if (config === undefined) return { taskId };
  return { taskId, pushNotificationConfig: isObject(config) ? withConfigId(id, config) : config };
}

function withConfigId(
  id: JsonValue | undefined,
  config: Record<string, JsonValue>,
): Record<string, JsonValue> {
  return id === undefined || (config["id"] ?? "") !== "" ? config : { ...config, id };
}

/** True for a message in the shape of the proto, not of the JSON-RPC types: 0.3 is unclear about which it wants. */
export function hasProtoMessage(body: unknown): boolean {
  if (!isObject(body)) return false;
  const message = body["message"] ?? body["request"];
  if (!isObject(message) || "kind" in message || "parts" in message) return false;
  return message["role"] !== "user";
}
