import {
  type DataPart,
  isInterrupted,
  isObject,
  type JsonObject,
  type JsonValue,
  type Part,
  type Task,
} from "../../../protocol/index.ts";
import { listSchemaFields, type SchemaField } from "../parts/schema-fields.ts";

/** A question of a waiting task that needs more than a text. */
export type TaskQuestion =
  /** The agent asks whether it may do something. */
  | {
      readonly kind: "approval";
      readonly key: string;
      readonly title: string;
      /** What the agent wants to do, for example the arguments of a tool. */
      readonly input?: JsonValue;
      readonly buildAnswer: (isApproved: boolean, reason: string) => DataPart;
      /** Builds any other response: a text, or the text of a JSON object. Missing if the agent expects an approval. */
      readonly buildResponse?: (entry: string) => DataPart;
    }
  /** The agent waits for the result of a function call. */
  | {
      readonly kind: "function-call";
      readonly key: string;
      readonly title: string;
      readonly input?: JsonValue;
      /** Accepts a text, or the text of a JSON object. */
      readonly buildAnswer: (entry: string) => DataPart;
    }
  /** The agent sent a JSON Schema of its answer. */
  | {
      readonly kind: "form";
      readonly key: string;
      readonly title: string;
      readonly fields: readonly SchemaField[];
      readonly buildAnswer: (value: JsonObject) => DataPart;
    };

/** Members of a data part, and of the metadata of a part, that contain a schema of the answer. */
const SCHEMA_MEMBERS = [
  "requestedSchema",
  "schema",
  "jsonSchema",
  "inputSchema",
  "input_schema",
  "responseSchema",
];
const APPROVAL_NAME_PATTERN = /approv|confirm|permission|allow/i;
const CONFIRMATION_CALL_NAME = "adk_request_confirmation";

/** Finds the questions in the status message of a waiting task. A question that is only text has no entry. */
export function findQuestions(task: Task | undefined): TaskQuestion[] {
  if (task === undefined || !isInterrupted(task.status.state)) return [];
  const parts: readonly Part[] = task.status.message?.parts ?? [];
  return parts.flatMap((part, index) => findQuestionInPart(part, index) ?? []);
}

/** Finds the question in a part of a message. `index` identifies a part without an id. */
export function findQuestionInPart(part: Part, index: number): TaskQuestion | undefined {
  const schema = findSchema(part.metadata) ?? ("data" in part ? findSchema(part.data) : undefined);
  const fields = listSchemaFields(schema);
  if (fields !== undefined)
    return {
      kind: "form",
      key: String(index),
      title: findTitle(schema) ?? "Answer",
      fields,
      buildAnswer: (value) => ({ data: value }),
    };
  if (!("data" in part) || !isObject(part.data)) return undefined;
  const { data } = part;
  return findApprovalRequest(data) ?? findFunctionCall(data, part.metadata);
}

/** An approval request of the AI SDK, the OpenAI Agents SDK, Mastra, or the Claude Agent SDK. */
function findApprovalRequest({ approvalId, toolName, input }: JsonObject): TaskQuestion | undefined {
  if (typeof approvalId !== "string") return undefined;
  return {
    kind: "approval",
    key: approvalId,
    title: typeof toolName === "string" ? `Allow ${toolName}?` : "Allow?",
    ...(input === undefined ? {} : { input }),
    buildAnswer: (approved, reason) => ({
      data: { approvalId, approved, ...(reason === "" ? {} : { reason }) },
    }),
  };
}

/** A long-running function call of ADK. */
function findFunctionCall(
  { id, name, args }: JsonObject,
  metadata: JsonObject | undefined,
): TaskQuestion | undefined {
  if (typeof id !== "string" || typeof name !== "string" || metadata?.["adk_type"] !== "function_call")
    return undefined;
  const answer = (response: JsonObject): DataPart => ({
    data: { id, name, response },
    metadata: { adk_type: "function_response" },
  });
  const input = args === undefined ? {} : { input: args };
  const { message, response_schema: schema } = isObject(args) ? args : {};
  const fields = listSchemaFields(schema);
  if (fields !== undefined) {
    const title = typeof message === "string" ? message : `Result of ${name}`;
    return { kind: "form", key: id, title, fields, buildAnswer: answer };
  }
  const buildResponse = (entry: string): DataPart => answer(parseObject(entry) ?? { result: entry });
  if (!APPROVAL_NAME_PATTERN.test(name))
    return {
      kind: "function-call",
      key: id,
      title: `Result of ${name}`,
      ...input,
      buildAnswer: buildResponse,
    };
  const isConfirmation = name === CONFIRMATION_CALL_NAME;
  const member = isConfirmation ? "confirmed" : "approved";
  return {
    kind: "approval",
    key: id,
    title: `${name}?`,
    ...input,
    buildAnswer: (isApproved, reason) =>
      answer({ [member]: isApproved, ...(reason === "" ? {} : { reason }) }),
    ...(isConfirmation ? {} : { buildResponse }),
  };
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function findSchema(value: JsonValue | undefined): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const object = value;
  if (object["type"] === "object" && isObject(object["properties"])) return object;
  return SCHEMA_MEMBERS.map((name) => object[name]).find((schema): schema is JsonObject => isObject(schema));
}

function findTitle(schema: JsonObject | undefined): string | undefined {
  const title = schema?.["title"] ?? schema?.["description"];
  return typeof title === "string" ? title : undefined;
}
