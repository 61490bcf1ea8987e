import { A2AError, type FieldViolation, isObject, type Part } from "../protocol/index.ts";

/** What a model says to an agent. No parts: it only waits for the task. */
export interface AgentRequest {
  readonly parts: Part[];
  readonly taskId?: string;
  readonly contextId?: string;
}

const KNOWN_ARGUMENTS = new Set(["message", "data", "files", "taskId", "contextId"]);

/** The arguments of a tool call; throws INVALID_PARAMS with all that is wrong with them. */
export function decodeToolArguments(given: unknown): AgentRequest {
  if (!isObject(given))
    throw A2AError.invalidParams([{ field: "arguments", description: "must be an object" }]);
  const violations: FieldViolation[] = [];
  const wrong = (field: string, description: string): void => void violations.push({ field, description });
  for (const name of Object.keys(given)) {
    if (!KNOWN_ARGUMENTS.has(name)) wrong(name, `is not known; known are ${[...KNOWN_ARGUMENTS].join(", ")}`);
  }
  const text = (name: string): string | undefined => {
    const value = given[name];
    if (value === undefined || value === null || value === "") return undefined;
    if (typeof value === "string") return value;
    wrong(name, "must be a string");
    return undefined;
  };
  const [message, taskId, contextId] = [text("message"), text("taskId"), text("contextId")];
  const { data, files = [] } = given;
  const parts: Part[] = message === undefined ? [] : [{ text: message }];
  if (isObject(data)) parts.push({ data });
  else if (data !== undefined && data !== null) wrong("data", "must be an object");
  if (Array.isArray(files)) files.forEach((file, at) => appendFilePart(file, `files[${at}]`, parts, wrong));
  else wrong("files", "must be an array");
  if (violations.length === 0 && parts.length === 0 && taskId === undefined) {
    wrong("message", "is missing; say something, or give the taskId of a task to wait for");
  }
  if (violations.length > 0) throw A2AError.invalidParams(violations);
  return { parts, ...(taskId ? { taskId } : {}), ...(contextId ? { contextId } : {}) };
}

function appendFilePart(
  file: unknown,
  field: string,
  parts: Part[],
  wrong: (field: string, description: string) => void,
): void {
  if (!isObject(file)) return wrong(field, "must be an object");
  const { url, base64, mediaType, name } = file;
  const about = {
    ...(typeof name === "string" ? { filename: name } : {}),
    ...(typeof mediaType === "string" ? { mediaType } : {}),
  };
  if (typeof url === "string" && base64 === undefined) {
    if (!URL.canParse(url)) return wrong(`${field}.url`, "must be a whole URL");
    parts.push({ url, ...about });
  } else if (typeof base64 === "string" && url === undefined) {
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return wrong(`${field}.base64`, "must be standard base64");
    parts.push({ raw: base64, ...about });
  } else wrong(field, "must have either url or base64");
}
