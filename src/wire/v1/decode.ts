import type { AgentCard, OperationName } from "../../protocol/index.ts";
import { createCheckedSchema, createConvertingSchema, createListSchema } from "../composite-schemas.ts";
import { createMessageSchemas, type FindSchema } from "../object-schema.ts";
import { createOperationDecoder, type OperationDecoder } from "../operation-messages.ts";
import { decodeResponseTolerantly, type DecodingSchema } from "../proto-json-schema.ts";
import type { PeerLeniency } from "../leniency.ts";
import { createEnumSchema, int32Schema, stringSchema } from "../scalar-schemas.ts";
import { ENUMS, MESSAGES, OPERATION_MESSAGES } from "./messages.ts";

/** Schema for the role of a message. */
export const ROLE_SCHEMA: DecodingSchema<string> = {
  ...createEnumSchema(ENUMS.Role),
  emptyValue: "ROLE_AGENT",
};

/** Schema for the maximum number of history messages in a response. */
export const HISTORY_LENGTH_SCHEMA: DecodingSchema<number> = createCheckedSchema(int32Schema, (length) =>
  length < 0 ? `must be 0 or more, not ${length}; leave it out for the entire history` : undefined,
);

/**
 * Schema for an empty result. The schema accepts any value, because some servers return `null` or an empty
 * body.
 */
export const ANY_TO_EMPTY_OBJECT_SCHEMA: DecodingSchema<object> = { decode: () => ({}), isNullable: true };

const MAX_PAGE_SIZE = 100;
const TASK_STATE_SCHEMA = createEnumSchema(ENUMS.TaskState);
const API_KEY_LOCATION_SCHEMA = createEnumSchema(["", "query", "header", "cookie"]);
const SCOPES_AS_LIST_SCHEMA = createConvertingSchema(createListSchema(stringSchema), (list) => ({ list }));

/** Finds the schema of a message of A2A 1.0. */
export const findSchema: FindSchema = createMessageSchemas(MESSAGES, {
  Role: ROLE_SCHEMA,
  UserRole: createCheckedSchema(ROLE_SCHEMA, (role) =>
    role === "ROLE_USER" ? undefined : `must be ROLE_USER in a request; ${role} is for responses`,
  ),
  // In tolerant mode, an unknown state decodes to one that is neither terminal nor interrupted.
  TaskState: {
    emptyValue: "TASK_STATE_UNSPECIFIED",
    decode: (json, at) =>
      TASK_STATE_SCHEMA.decode(json, at) ?? (at.isStrict ? undefined : "TASK_STATE_UNSPECIFIED"),
  },
  HistoryLength: HISTORY_LENGTH_SCHEMA,
  PageSize: createCheckedSchema(int32Schema, (size) =>
    size < 1 || size > MAX_PAGE_SIZE ? `must be 1 to ${MAX_PAGE_SIZE}, not ${size}` : undefined,
  ),
  Empty: ANY_TO_EMPTY_OBJECT_SCHEMA,
  // In the A2A proto, the location of an API key is a string, and the canonical form of a card keeps it unchanged. In
  // tolerant mode, an unknown location decodes to `header`, which most servers use.
  ApiKeyLocation: {
    emptyValue: "",
    decode: (json, at) =>
      at.fillsDefaults
        ? (API_KEY_LOCATION_SCHEMA.decode(json, at) ?? (at.isStrict ? undefined : "header"))
        : stringSchema.decode(json, at),
  },
  Scopes: {
    decode: (json, at) =>
      (Array.isArray(json) && at.accepts("scopesAsList")
        ? SCOPES_AS_LIST_SCHEMA
        : findSchema("StringList")
      ).decode(json, at),
  },
});

/** Returns `true` if a string is the name of an operation that Colloquy supports. */
export function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(OPERATION_MESSAGES, name);
}

const decoder = createOperationDecoder(OPERATION_MESSAGES, findSchema);

export const decodeParams: OperationDecoder["decodeParams"] = decoder.decodeParams;
export const decodeResult: OperationDecoder["decodeResult"] = decoder.decodeResult;

/**
 * Decodes an agent card. An agent card with an older protocol version decodes to a card without interfaces.
 */
export function decodeCard(json: unknown, leniency?: PeerLeniency): AgentCard {
  return decodeResponseTolerantly(findSchema("AgentCard"), json, "card", "tolerant", leniency) as AgentCard;
}
