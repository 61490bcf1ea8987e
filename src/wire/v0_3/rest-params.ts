import { A2AError, isObject, type JsonValue, type OperationName } from "../../protocol/index.ts";

/**
 * Collects the parameters of a REST request from the path and from the query or the body. The result has
 * the form of JSON-RPC parameters. The function does not validate the message in the body, because the
 * decoder validates the message.
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
 * Converts the body of a request that creates a push notification configuration. Clients send the
 * configuration in three forms:
 * - the request message of the proto, with a `config` member
 * - only the `config` object, as the annotation in the proto specifies
 * - the parameters of the JSON-RPC method
 */
function toCreatePushConfigParams(taskId: string, body: unknown): unknown {
  if (!isObject(body)) return body ?? { taskId };
  const request = isObject(body["config"]) ? body["config"] : body;
  if (request["taskId"] !== undefined && request["taskId"] !== taskId) {
    const description = `is ${JSON.stringify(taskId)} in the path but has another value in the body; send only one`;
    throw A2AError.invalidParams([{ field: "taskId", description }]);
  }
  const config = request["pushNotificationConfig"] ?? request["push_notification_config"];
  const id = body["configId"] ?? body["config_id"];
  if (config === undefined) return { taskId };
  return { taskId, pushNotificationConfig: isObject(config) ? withPushConfigId(id, config) : config };
}

function withPushConfigId(
  id: JsonValue | undefined,
  config: Record<string, JsonValue>,
): Record<string, JsonValue> {
  return id === undefined || (config["id"] ?? "") !== "" ? config : { ...config, id };
}

/**
 * Returns `true` if the message in the body has the form of the 0.3 proto instead of the JSON-RPC types.
 * The specification of 0.3 does not state which form HTTP+JSON requires.
 */
export function hasMessageInProtoForm(body: unknown): boolean {
  if (!isObject(body)) return false;
  const message = body["message"] ?? body["request"];
  if (!isObject(message) || "kind" in message || "parts" in message) return false;
  return message["role"] !== "user";
}
