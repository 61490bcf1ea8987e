import { isObject, type JsonObject, type JsonValue } from "../../../protocol/index.ts";

/** A message of a prompt or of a reply, as a person reads it. */
export interface ModelMessage {
  /** `system`, `user`, `assistant`, `tool`, or the name that the framework uses. */
  readonly role: string;
  readonly parts: readonly ModelMessagePart[];
}

/** A text, a call or a result of a tool, or any other JSON. */
export type ModelMessagePart =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call" | "result"; readonly tool: string; readonly value: JsonValue }
  | { readonly kind: "json"; readonly value: JsonValue };

/** Names of the list of messages in the prompts of ADK, OpenAI, and the card roles. */
const LIST_NAMES = ["messages", "contents", "input"];
/** Names of the system instruction beside the list. */
const INSTRUCTION_NAMES = ["instruction", "instructions", "systemInstruction", "system"];
const ROLES: ReadonlyMap<unknown, string> = new Map([
  ["human", "user"],
  ["ai", "assistant"],
  ["model", "assistant"],
  ["developer", "system"],
]);

/**
 * Returns the messages of a prompt or of a reply, whichever framework has recorded it. `role` is the role of content
 * without a role. Content of an unknown form is a message with the JSON, so that the page leaves nothing out.
 */
export function listModelMessages(value: JsonValue | undefined, role: "user" | "assistant"): ModelMessage[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) {
    if (value.some(isMessage))
      return value.map((entry) =>
        isObject(entry) ? toMessage(entry, role) : { role, parts: toParts(entry) },
      );
    return value.length === 0 ? [] : [{ role, parts: value.flatMap(toParts) }];
  }
  if (!isObject(value)) return [{ role, parts: toParts(value) }];
  const listName = LIST_NAMES.find((name) => Array.isArray(value[name]) || typeof value[name] === "string");
  if (listName !== undefined && !isMessage(value)) {
    const instruction = INSTRUCTION_NAMES.map((name) => value[name]).find(Boolean);
    const system = instruction === undefined ? [] : [{ role: "system", parts: toContentParts(instruction) }];
    return [...system, ...listModelMessages(value[listName], role)];
  }
  return [toMessage(value, role)];
}

/** Returns true for a message with a role, and for a call or a result of a tool in a list of messages. */
function isMessage(value: JsonValue): boolean {
  return isObject(value) && (typeof value["role"] === "string" || toToolPart(value) !== undefined);
}

function toMessage(value: JsonObject, defaultRole: string): ModelMessage {
  const toolPart = toToolPart(value);
  const role = typeof value["role"] === "string" ? value["role"] : undefined;
  if (toolPart && (role === undefined || role === "tool" || role === "function"))
    return { role: toolPart.kind === "result" ? "tool" : "assistant", parts: [toolPart] };
  const { content, parts, text, tool_calls: calls } = value;
  const known = [content, parts, text, calls].filter((member) => member !== undefined && member !== null);
  return {
    role: ROLES.get(role) ?? role ?? defaultRole,
    parts: known.length > 0 ? known.flatMap(toContentParts) : toParts(value),
  };
}

/** Returns the parts of the content of a message, which can itself be a message. */
function toContentParts(content: JsonValue): ModelMessagePart[] {
  if (Array.isArray(content)) return content.flatMap(toParts);
  if (isObject(content) && Array.isArray(content["parts"])) return content["parts"].flatMap(toParts);
  return toParts(content);
}

function toParts(part: JsonValue): ModelMessagePart[] {
  if (typeof part === "string") return part === "" ? [] : [{ kind: "text", text: part }];
  if (!isObject(part)) return [{ kind: "json", value: part }];
  const { type, text } = part;
  const isText = type === undefined || (typeof type === "string" && type.endsWith("text"));
  if (typeof text === "string" && isText) return [{ kind: "text", text }];
  return [toToolPart(part) ?? { kind: "json", value: part }];
}

/** Reads a call or a result of a tool: of ADK, the AI SDK, Mastra, LangChain, OpenAI, or OpenAI Agents. */
function toToolPart(part: JsonObject): Extract<ModelMessagePart, { tool: string }> | undefined {
  const { functionCall, functionResponse, function: called, type, role } = part;
  if (isObject(functionCall)) return toCall(functionCall["name"], functionCall["args"]);
  if (isObject(functionResponse)) return toResult(functionResponse["name"], functionResponse["response"]);
  if (isObject(called)) return toCall(called["name"], called["arguments"]);
  const name = part["toolName"] ?? part["tool"] ?? part["name"];
  if (type === "function_call_result" || type === "function_call_output" || type === "tool-result")
    return toResult(name ?? part["callId"] ?? part["call_id"], part["output"] ?? part["result"]);
  if (role === "tool" || role === "function")
    return toResult(name ?? part["tool_call_id"], part["result"] ?? part["content"]);
  const input = part["input"] ?? part["arguments"] ?? part["args"];
  return role === undefined && typeof name === "string" && input !== undefined
    ? toCall(name, input)
    : undefined;
}

/** A tool that a model may call. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  /** Everything else that the prompt states about the tool, such as the schema of its arguments. */
  readonly details: JsonObject;
}

/** Returns what a prompt states beside its messages and tools, such as the schema of the reply and the largest number of tokens. */
export function getModelSettings(prompt: JsonValue | undefined): JsonObject {
  if (!isObject(prompt) || isMessage(prompt)) return {};
  const known = new Set(["tools", ...LIST_NAMES, ...INSTRUCTION_NAMES]);
  const settings = Object.entries(prompt).filter(([name]) => !known.has(name));
  // Without a list of messages, the page shows the prompt as it is.
  return settings.length === Object.keys(prompt).length ? {} : Object.fromEntries(settings);
}

/** Lists the tools in a prompt: of ADK and Gemini, the AI SDK, OpenAI, or Anthropic. */
export function listOfferedTools(prompt: JsonValue | undefined): OfferedTool[] {
  const tools = isObject(prompt) ? prompt["tools"] : undefined;
  if (!Array.isArray(tools)) return [];
  const declared = tools.flatMap((tool) =>
    isObject(tool) && Array.isArray(tool["functionDeclarations"]) ? tool["functionDeclarations"] : [tool],
  );
  return declared.filter(isObject).map((tool) => {
    const { name, type, description, ...details } = isObject(tool["function"]) ? tool["function"] : tool;
    return { name: toName(name ?? type), description: toName(description), details };
  });
}

function toCall(tool: JsonValue | undefined, value: JsonValue = {}): ReturnType<typeof toToolPart> {
  return { kind: "call", tool: toName(tool), value: parseText(value) };
}

function toResult(tool: JsonValue | undefined, value: JsonValue = null): ReturnType<typeof toToolPart> {
  return { kind: "result", tool: toName(tool), value: parseText(value) };
}

function toName(tool: JsonValue | undefined): string {
  return typeof tool === "string" ? tool : "";
}

/** Arguments of a tool can be a text of JSON. */
function parseText(value: JsonValue): JsonValue {
  if (typeof value !== "string" || !/^\s*[[{]/.test(value)) return value;
  try {
    return JSON.parse(value) as JsonValue;
  } catch {
    return value;
  }
}
