import { A2AError, type FieldViolation, isObject, type Part } from "../../protocol/index.ts";

/** A request from a model to an agent. A request without parts only waits for the task. */
export interface AgentRequestFromToolCall {
  readonly parts: Part[];
  readonly taskId?: string;
  readonly contextId?: string;
}

const TOOL_ARGUMENT_NAMES = new Set(["message", "data", "files", "taskId", "contextId"]);

/**
 * Decodes the arguments of an MCP tool call. Throws `INVALID_PARAMS` and lists all violations if the
 * arguments are invalid.
 */
export function decodeToolArguments(json: unknown): AgentRequestFromToolCall {
  if (!isObject(json))
    throw A2AError.invalidParams([{ field: "arguments", description: "must be an object" }]);
  const violations: FieldViolation[] = [];
  const addViolation = (field: string, description: string): void =>
    void violations.push({ field, description });
  for (const name of Object.keys(json)) {
    if (!TOOL_ARGUMENT_NAMES.has(name))
      addViolation(name, `is unknown; use ${[...TOOL_ARGUMENT_NAMES].join(", ")}`);
  }
  const text = (name: string): string | undefined => {
    const value = json[name];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value === "string") return value;
    addViolation(name, "must be a string");
    return undefined;
  };
  const [message, taskId, contextId] = [text("message"), text("taskId"), text("contextId")];
  const { data, files = [] } = json;
  const parts: Part[] = message === undefined ? [] : [{ text: message }];
  if (isObject(data)) parts.push({ data });
  else if (data !== undefined && data !== null) addViolation("data", "must be an object");
  if (Array.isArray(files))
    files.forEach((file, index) => decodeFileArgument(file, `files[${index}]`, parts, addViolation));
  else addViolation("files", "must be an array");
  if (violations.length === 0 && parts.length === 0 && taskId === undefined) {
    addViolation("message", "is missing; send a message, or the taskId of a task to wait for");
  }
  if (violations.length > 0) throw A2AError.invalidParams(violations);
  return { parts, ...(taskId ? { taskId } : {}), ...(contextId ? { contextId } : {}) };
}

function decodeFileArgument(
  file: unknown,
  field: string,
  parts: Part[],
  addViolation: (field: string, description: string) => void,
): void {
  if (!isObject(file)) return addViolation(field, "must be an object");
  const { url, base64, mediaType, name } = file;
  const fileInfo = {
    ...(typeof name === "string" ? { filename: name } : {}),
    ...(typeof mediaType === "string" ? { mediaType } : {}),
  };
  if (typeof url === "string" && base64 === undefined) {
    if (!URL.canParse(url)) return addViolation(`${field}.url`, "must be an absolute URL");
    parts.push({ url, ...fileInfo });
  } else if (typeof base64 === "string" && url === undefined) {
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64))
      return addViolation(`${field}.base64`, "must be standard base64");
    parts.push({ raw: base64, ...fileInfo });
  } else addViolation(field, "must have either url or base64");
}
