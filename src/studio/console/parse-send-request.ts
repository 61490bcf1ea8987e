import {
  A2AError,
  isObject,
  type Message,
  type SendMessageConfiguration,
  type JsonObject,
} from "../../protocol/index.ts";
import * as v1 from "../../wire/v1/index.ts";

/** A message of a page, after validation. */
export interface ParsedSendRequest {
  readonly message: Message;
  readonly configuration?: SendMessageConfiguration;
  readonly metadata?: JsonObject;
}

/**
 * Validates the body of `POST agents/:agent/messages`, and adds a missing message id and role. Throws INVALID_PARAMS
 * with all violations.
 */
export function parseSendRequest(body: unknown): ParsedSendRequest {
  if (!isObject(body) || !isObject(body["message"]))
    throw A2AError.invalidParams([{ field: "message", description: "must be an A2A message with parts" }]);
  const { message, configuration, metadata } = body;
  const decoded = v1.decodeParams("SendMessage", {
    message: { messageId: crypto.randomUUID(), role: "ROLE_USER", ...message },
    ...(configuration === undefined ? {} : { configuration }),
    ...(metadata === undefined ? {} : { metadata }),
  });
  return {
    message: decoded.message,
    ...(decoded.configuration ? { configuration: decoded.configuration } : {}),
    ...(decoded.metadata ? { metadata: decoded.metadata } : {}),
  };
}
