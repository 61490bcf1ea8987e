import { getText, isObject, type JsonObject, type Part } from "../../protocol/index.ts";
import { DATA_PART_TYPE_KEY } from "./adk-event-metadata.ts";
import { CONFIRMATION_CALL_NAME, CREDENTIAL_CALL_NAME } from "./reserved-calls.ts";
import type { AdkFunctionCall } from "./adk-structural-types.ts";

type PendingCalls = ReadonlyMap<string, AdkFunctionCall>;

/** Member of a function response that contains a value that is not an object. */
const RESULT_MEMBER = "result";
/** Argument of `adk_request_input` with the JSON Schema of the response. */
const RESPONSE_SCHEMA_ARGUMENT = "response_schema";

/**
 * Replaces the text of a message by the response to the only pending call, so that a person can answer with plain text.
 * The response is `{ result: text }`, or the only string field of the response schema. Returns `undefined` if the message
 * has no text, if several calls are pending, or if the call requests a confirmation or a credential.
 */
export function convertTextToCallResponse(parts: readonly Part[], calls: PendingCalls): Part[] | undefined {
  const [call] = calls.values();
  if (calls.size !== 1 || !call || !isAnswerableWithText(call)) return undefined;
  const text = getText(parts);
  if (text.trim() === "") return undefined;
  const { id, name } = call;
  const response = respondWithText(call, text);
  return [
    { data: { id, name, response }, metadata: { [DATA_PART_TYPE_KEY]: "function_response" } } as Part,
    ...parts.filter((part) => !("text" in part)),
  ];
}

/** Returns an explanation of how to answer several calls, if a message contains only text. */
export function explainSeveralCalls(parts: readonly Part[], calls: PendingCalls): string | undefined {
  if (calls.size < 2 || !parts.every((part) => "text" in part)) return undefined;
  const answers = [...calls].map(([id, call]) => {
    const response = call.name === CONFIRMATION_CALL_NAME ? { confirmed: true } : respondWithText(call, "…");
    const answer = JSON.stringify({ id, response });
    return `${call.name}(${JSON.stringify(call.args ?? {})}) with the data part ${answer}`;
  });
  return `A text can only answer a single function call. Answer ${answers.join(" and ")}.`;
}

function respondWithText(call: AdkFunctionCall, text: string): JsonObject {
  return { [findOnlyStringField(call) ?? RESULT_MEMBER]: text };
}

function isAnswerableWithText({ name }: AdkFunctionCall): boolean {
  return name !== CONFIRMATION_CALL_NAME && name !== CREDENTIAL_CALL_NAME;
}

/** Returns the name of the only field of the call's response schema, if the field is a string. */
function findOnlyStringField({ args }: AdkFunctionCall): string | undefined {
  const schema = args?.[RESPONSE_SCHEMA_ARGUMENT];
  if (!isObject(schema) || !isObject(schema["properties"])) return undefined;
  const [field, ...others] = Object.entries(schema["properties"]);
  const isString = field !== undefined && isObject(field[1]) && field[1]["type"] === "string";
  return isString && others.length === 0 ? field[0] : undefined;
}
