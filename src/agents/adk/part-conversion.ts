import {
  type DataPart,
  fromBase64,
  type JsonObject,
  type JsonValue,
  type Part,
  toBase64,
} from "../../protocol/index.ts";
import { redactCredentialRequest } from "./redact-credential-request.ts";
import { isJsonObject, toAdkMetadataKey, DATA_PART_TYPE_KEY } from "./adk-event-metadata.ts";
import { CREDENTIAL_CALL_NAME } from "./reserved-calls.ts";
import type { AdkFunctionCall, AdkFunctionResponse, GenaiPart } from "./adk-structural-types.ts";

const LONG_RUNNING_KEY = toAdkMetadataKey("is_long_running");
const THOUGHT_KEY = toAdkMetadataKey("thought");
/**
 * Metadata key for a part's thought signature. The model requires the thought signature in the next request,
 * together with the thought.
 */
export const THOUGHT_SIGNATURE_KEY: "adk_thought_signature" = toAdkMetadataKey("thought_signature");
const VIDEO_METADATA_KEY = toAdkMetadataKey("video_metadata");
/** Metadata key for members of a `genai` part that the ADK bridge does not know. */
const UNKNOWN_MEMBERS_KEY = toAdkMetadataKey("more");

/** Names of `genai` part members, by the `adk_type` of the corresponding data part. */
const GENAI_MEMBER_BY_DATA_PART_TYPE = {
  function_call: "functionCall",
  function_response: "functionResponse",
  executable_code: "executableCode",
  code_execution_result: "codeExecutionResult",
} as const satisfies Record<string, keyof GenaiPart>;

/** Members of a `genai` part that the ADK bridge converts explicitly. */
const KNOWN_GENAI_PART_MEMBERS: ReadonlySet<string> = new Set<keyof GenaiPart>([
  "text",
  "thought",
  "thoughtSignature",
  "inlineData",
  "fileData",
  "videoMetadata",
  ...Object.values(GENAI_MEMBER_BY_DATA_PART_TYPE),
]);

const ADK_DATA_PART_TYPES = Object.keys(
  GENAI_MEMBER_BY_DATA_PART_TYPE,
) as (keyof typeof GENAI_MEMBER_BY_DATA_PART_TYPE)[];

const isNeverLongRunning = (): boolean => false;

/**
 * Tags around JSON data in a `genai` text file. The bridge needs the tags because `genai` has no data
 * parts. ADK's bridges for Go and Python use the same tags.
 */
const DATA_PART_OPEN_TAG = "<a2a_datapart_json>";
const DATA_PART_CLOSE_TAG = "</a2a_datapart_json>";

/**
 * Converts `genai` parts to A2A parts. Empty text is omitted, because ADK's bridge for Go rejects it. The
 * function `isLongRunning` returns true for the ids of function calls that wait for an external response.
 */
export function toA2aParts(
  parts: readonly GenaiPart[] | undefined,
  isLongRunning: (id: string) => boolean = isNeverLongRunning,
): Part[] {
  const result: Part[] = [];
  for (const part of parts ?? []) {
    const converted = toA2aPart(part, isLongRunning);
    if (converted) result.push(converted);
  }
  return result;
}

/** Converts a `genai` part to an A2A part. Returns `undefined` if the part has no content. */
export function toA2aPart(
  part: GenaiPart,
  isLongRunning: (id: string) => boolean = isNeverLongRunning,
): Part | undefined {
  if (hasOnlyText(part)) return { text: part.text };
  const unknownMembers = collectUnknownMembers(part);
  const content = toA2aPartContent(part, isLongRunning);
  if (content) {
    if (unknownMembers) (content.metadata ??= {})[UNKNOWN_MEMBERS_KEY] = unknownMembers;
    return copyGenaiFlagsToPartMetadata(content, part);
  }
  return (
    unknownMembers &&
    copyGenaiFlagsToPartMetadata(
      { data: unknownMembers, metadata: { [DATA_PART_TYPE_KEY]: "unknown" } },
      part,
    )
  );
}

/** Returns true if a part contains only text, as nearly every part of a stream does. */
function hasOnlyText(part: GenaiPart): part is { text: string } {
  if (!part.text) return false;
  for (const member in part) if (member !== "text") return false;
  return true;
}

function toA2aPartContent(part: GenaiPart, isLongRunning: (id: string) => boolean): Part | undefined {
  if (part.text !== undefined && part.text !== "") return { text: part.text };
  for (const type of ADK_DATA_PART_TYPES) {
    const value = part[GENAI_MEMBER_BY_DATA_PART_TYPE[type]];
    if (value === undefined || value === null) continue;
    const metadata: JsonObject = { [DATA_PART_TYPE_KEY]: type };
    if (type === "function_call") metadata[LONG_RUNNING_KEY] = isLongRunning(part.functionCall?.id ?? "");
    const data = toJsonObject(value);
    return { data: data["name"] === CREDENTIAL_CALL_NAME ? redactCredentialRequest(data) : data, metadata };
  }
  if (part.inlineData) return fromInlineData(part.inlineData);
  if (!part.fileData) return undefined;
  const { fileUri = "", mimeType, displayName } = part.fileData;
  return setFilenameAndMediaTypeOnA2aPart({ url: fileUri }, mimeType, displayName);
}

/**
 * Returns the unknown members of a part, or `undefined` if the ADK bridge knows all members.
 */
function collectUnknownMembers(part: GenaiPart): JsonObject | undefined {
  let unknownMembers: Record<string, unknown> | undefined;
  for (const member in part) {
    if (!KNOWN_GENAI_PART_MEMBERS.has(member))
      (unknownMembers ??= {})[member] = part[member as keyof GenaiPart];
  }
  // Members that are `undefined` disappear in JSON.
  const json = unknownMembers && toJsonObject(unknownMembers);
  return json && Object.keys(json).length > 0 ? json : undefined;
}

function fromInlineData(blob: NonNullable<GenaiPart["inlineData"]>): Part {
  if (blob.mimeType === "text/plain") {
    const text = decodeBase64Text(blob.data ?? "");
    if (text.startsWith(DATA_PART_OPEN_TAG) && text.endsWith(DATA_PART_CLOSE_TAG)) {
      try {
        return {
          data: JSON.parse(text.slice(DATA_PART_OPEN_TAG.length, -DATA_PART_CLOSE_TAG.length)) as JsonValue,
        };
      } catch {
        // Text with these tags but without JSON remains a file.
      }
    }
  }
  return setFilenameAndMediaTypeOnA2aPart({ raw: blob.data ?? "" }, blob.mimeType, blob.displayName);
}

function setFilenameAndMediaTypeOnA2aPart<P extends Part>(
  part: P,
  mediaType: string | undefined,
  filename: string | undefined,
): P {
  if (filename) part.filename = filename;
  if (mediaType) part.mediaType = mediaType;
  return part;
}

/** Copies the flags and metadata of a `genai` part to the metadata of an A2A part. */
function copyGenaiFlagsToPartMetadata<P extends Part>(part: P, flags: GenaiPart): P {
  if (flags.thought) (part.metadata ??= {})[THOUGHT_KEY] = true;
  if (flags.thoughtSignature) (part.metadata ??= {})[THOUGHT_SIGNATURE_KEY] = flags.thoughtSignature;
  if (flags.videoMetadata) (part.metadata ??= {})[VIDEO_METADATA_KEY] = toJsonObject(flags.videoMetadata);
  return part;
}

/** Converts A2A parts to `genai` parts. This conversion is the inverse of `toA2aParts`. */
export function toGenaiParts(parts: readonly Part[]): GenaiPart[] {
  return parts.map(toGenaiPart);
}

/** Converts an A2A part to a `genai` part. */
export function toGenaiPart(part: Part): GenaiPart {
  const result = toGenaiPartContent(part);
  const { metadata } = part;
  if (!metadata) return result;
  if (metadata[THOUGHT_KEY] === true) result.thought = true;
  const signature = metadata[THOUGHT_SIGNATURE_KEY];
  if (typeof signature === "string") result.thoughtSignature = signature;
  // Go's bridge writes this key without its prefix.
  const video = metadata[VIDEO_METADATA_KEY] ?? metadata["video_metadata"];
  if (isJsonObject(video)) result.videoMetadata = video;
  const unknownMembers = metadata[UNKNOWN_MEMBERS_KEY];
  // Known members must not be set here, because they would bypass the checks for their type.
  if (isJsonObject(unknownMembers) && hasOnlyUnknownMembers(unknownMembers))
    Object.assign(result, unknownMembers);
  return result;
}

function toGenaiPartContent(part: Part): GenaiPart {
  if ("text" in part) return { text: part.text };
  if ("raw" in part) return { inlineData: withGenaiMimeTypeAndDisplayName({ data: part.raw }, part) };
  if ("url" in part) return { fileData: withGenaiMimeTypeAndDisplayName({ fileUri: part.url }, part) };
  const type = part.metadata?.[DATA_PART_TYPE_KEY];
  if (isJsonObject(part.data)) {
    if (type === "unknown" && hasOnlyUnknownMembers(part.data)) return { ...part.data };
    const known = ADK_DATA_PART_TYPES.find((name) => name === type);
    if (known && isValidFunctionCallOrResponse(known, part.data))
      return { [GENAI_MEMBER_BY_DATA_PART_TYPE[known]]: part.data };
  }
  const wrapped = DATA_PART_OPEN_TAG + JSON.stringify(part.data) + DATA_PART_CLOSE_TAG;
  return { inlineData: { data: toBase64(new TextEncoder().encode(wrapped)), mimeType: "text/plain" } };
}

function withGenaiMimeTypeAndDisplayName<F extends object>(file: F, { mediaType, filename }: Part): F {
  return {
    ...file,
    ...(mediaType && { mimeType: mediaType }),
    ...(filename && { displayName: filename }),
  };
}

/**
 * Returns true if the ADK bridge knows none of the members. Known members are rejected, because they would
 * bypass the bridge's type checks.
 */
function hasOnlyUnknownMembers(data: JsonObject): boolean {
  return !Object.keys(data).some((member) => KNOWN_GENAI_PART_MEMBERS.has(member));
}

/**
 * Checks the types of all members that ADK reads from a function call or a function response. The type
 * check is needed because callers can send any metadata.
 */
function isValidFunctionCallOrResponse(
  type: keyof typeof GENAI_MEMBER_BY_DATA_PART_TYPE,
  data: JsonObject,
): boolean {
  if (type !== "function_call" && type !== "function_response") return true;
  const payload = type === "function_call" ? data["args"] : data["response"];
  const id = data["id"];
  // A response may omit its name, which is then taken from its call.
  const hasValidName =
    typeof data["name"] === "string" || (type === "function_response" && data["name"] === undefined);
  return (
    hasValidName &&
    (id === undefined || typeof id === "string") &&
    (payload === undefined || isJsonObject(payload))
  );
}

/** Returns the function call of a part if the call waits for an external response. */
export function parseLongRunningCall(part: Part): AdkFunctionCall | undefined {
  return part.metadata?.[LONG_RUNNING_KEY] === true ? parseDataPartOfType(part, "function_call") : undefined;
}

/** Returns the ids of the function calls that wait for an external response, without duplicate ids. */
export function collectLongRunningCallIds(parts: readonly Part[]): string[] {
  return [...new Set(parts.flatMap((part) => parseLongRunningCall(part)?.id ?? []))];
}

/** Returns the function response in a part, or `undefined` if the part has no function response. */
export function parseFunctionResponse(part: Part): AdkFunctionResponse | undefined {
  return parseDataPartOfType(part, "function_response");
}

/** Returns the function call in a part, or `undefined` if the part has no function call. */
export function parseFunctionCall(part: Part): AdkFunctionCall | undefined {
  return parseDataPartOfType(part, "function_call");
}

function parseDataPartOfType(
  part: Part,
  type: keyof typeof GENAI_MEMBER_BY_DATA_PART_TYPE,
): JsonObject | undefined {
  if (part.metadata?.[DATA_PART_TYPE_KEY] !== type) return undefined;
  const { data } = part as DataPart;
  return isJsonObject(data) && isValidFunctionCallOrResponse(type, data) ? data : undefined;
}

/**
 * Returns a JSON copy of an object. The copy is needed because ADK may modify an object that it has already
 * emitted.
 */
export function toJsonObject(value: object): JsonObject {
  return JSON.parse(JSON.stringify(value)) as JsonObject;
}

function decodeBase64Text(base64: string): string {
  return new TextDecoder().decode(fromBase64(base64));
}
