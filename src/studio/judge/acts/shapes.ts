import type { Mismatch } from "./assertions.ts";
import { getMember, MISSING } from "./expressions.ts";

/**
 * The messages of A2A 1.0 as JSON: space-separated members with their types. Without a type, a member is a text. `!`
 * marks required members, `[]` lists, and `{}` maps. The type `any` accepts every value.
 */
const MESSAGES: Readonly<Record<string, string>> = {
  SendMessageResponse: "task:Task message:Message",
  StreamResponse: "task:Task message:Message statusUpdate:StatusUpdate artifactUpdate:ArtifactUpdate",
  Task: "id! contextId status!:Status artifacts[]:Artifact history[]:Message metadata:object",
  Status: "state!:State message:Message timestamp:Timestamp",
  StatusUpdate: "taskId! contextId! status!:Status metadata:object",
  ArtifactUpdate: "taskId! contextId! artifact!:Artifact append:boolean lastChunk:boolean metadata:object",
  Artifact: "artifactId! name description parts![]:Part metadata:object extensions[]",
  Message:
    "messageId! contextId taskId role!:Role parts![]:Part metadata:object extensions[] referenceTaskIds[]",
  Part: "text raw url data:any metadata:object filename mediaType",
  AgentCard:
    "name! description! supportedInterfaces![]:Interface provider:Provider version! documentationUrl " +
    "capabilities!:Capabilities securitySchemes{}:object securityRequirements[]:SecurityRequirement " +
    "defaultInputModes![] defaultOutputModes![] skills![]:Skill signatures[]:Signature iconUrl",
  Interface: "url! protocolBinding! tenant protocolVersion!",
  Provider: "url! organization!",
  Capabilities:
    "streaming:boolean pushNotifications:boolean extendedAgentCard:boolean extensions[]:Extension",
  Extension: "uri description required:boolean params:object",
  SecurityRequirement: "schemes{}:object",
  Skill:
    "id! name! description! tags![] examples[] inputModes[] outputModes[] securityRequirements[]:SecurityRequirement",
  Signature: "protected! signature! header:object",
};

/** Messages of which exactly one member is set. */
const ALTERNATIVES: Readonly<Record<string, readonly string[]>> = {
  SendMessageResponse: ["task", "message"],
  StreamResponse: ["task", "message", "statusUpdate", "artifactUpdate"],
  Part: ["text", "raw", "url", "data"],
};

const TEXTS: Readonly<Record<string, RegExp>> = {
  text: /^/,
  State: /^TASK_STATE_(SUBMITTED|WORKING|COMPLETED|FAILED|CANCELED|INPUT_REQUIRED|REJECTED|AUTH_REQUIRED)$/,
  Role: /^ROLE_(USER|AGENT)$/,
  Timestamp: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/,
};

/**
 * Compares a value with a message of A2A 1.0. Members that A2A does not define are accepted, because receivers ignore
 * them (A2A §11.6), unless they are the snake case form of a member.
 */
export function checkShape(type: string, value: unknown, path: string = type): readonly Mismatch[] {
  const members = MESSAGES[type];
  if (members === undefined) return checkScalar(type, value, path);
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [{ path, message: "is not an object" }];
  const alternatives = ALTERNATIVES[type]?.filter((name) => name in value);
  if (alternatives && alternatives.length !== 1)
    return [
      { path, message: `has ${alternatives.length} of ${ALTERNATIVES[type]?.join(", ")} instead of one` },
    ];
  return members.split(" ").flatMap((rule) => {
    const [, name = "", mark, collection, memberType = "text"] =
      /^(\w+)(!?)(\[\]|\{\})?(?::(\w+))?$/.exec(rule) ?? [];
    const memberPath = `${path}.${name}`;
    const snakeCase = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (snakeCase !== name && snakeCase in value)
      return [{ path: `${path}.${snakeCase}`, message: `is not spelled ${name}` }];
    const member = getMember(value, name);
    if (member === MISSING) return mark === "!" ? [{ path: memberPath, message: "is missing" }] : [];
    if (collection === undefined) return checkShape(memberType, member, memberPath);
    if (collection === "[]" ? !Array.isArray(member) : typeof member !== "object" || member === null)
      return [{ path: memberPath, message: `is not ${collection === "[]" ? "an array" : "an object"}` }];
    return Object.entries(member as object).flatMap(([key, element]) =>
      checkShape(memberType, element, `${memberPath}[${key}]`),
    );
  });
}

function checkScalar(type: string, value: unknown, path: string): readonly Mismatch[] {
  const pattern = TEXTS[type];
  const isValid = pattern
    ? typeof value === "string" && pattern.test(value)
    : type === "any" || (typeof value === type && value !== null);
  return isValid ? [] : [{ path, message: `is ${JSON.stringify(value)}, which is not a valid ${type}` }];
}
