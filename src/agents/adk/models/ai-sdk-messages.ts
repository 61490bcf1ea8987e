import type {
  AssistantContent,
  JSONValue,
  ModelMessage,
  ProviderMetadata,
  ToolContent,
  UserContent,
} from "ai";
import { fromBase64, toBase64 } from "../../../protocol/index.ts";
import type { Content, GenaiContentPart } from "./genai-types.ts";

type AssistantPart = Exclude<AssistantContent, string>[number];
type UserPart = Exclude<UserContent, string>[number];
type ToolResultPart = Extract<ToolContent[number], { type: "tool-result" }>;

/**
 * Converts the contents of an ADK request to AI SDK messages. ADK removes the call ids that it assigned.
 * If a call has no id, the conversion finds its response by name and order. If a call has no response, for
 * example after a crash, the conversion adds an error response. Providers reject a conversation with a
 * missing response.
 */
export function toAiSdkMessages(contents: readonly Content[]): ModelMessage[] {
  const messages: ModelMessage[] = [];
  const openCalls: { id: string; name: string }[] = [];
  let callCount = 0;

  const resolveCall = (
    part: NonNullable<GenaiContentPart["functionResponse"]>,
  ): ToolResultPart | undefined => {
    const index = openCalls.findIndex(({ id, name }) =>
      part.id === undefined ? name === part.name : id === part.id,
    );
    const call = openCalls[index];
    if (!call) return undefined;
    openCalls.splice(index, 1);
    const output = { type: "json" as const, value: (part.response ?? {}) as JSONValue };
    return { type: "tool-result", toolCallId: call.id, toolName: call.name, output };
  };
  const closeOpenCalls = (): void => {
    if (openCalls.length === 0) return;
    const output = { type: "error-text" as const, value: "The call was interrupted and has no result." };
    const content = openCalls
      .splice(0)
      .map(({ id, name }) => ({ type: "tool-result" as const, toolCallId: id, toolName: name, output }));
    messages.push({ role: "tool", content });
  };

  for (const { role, parts = [] } of contents) {
    const results = parts.flatMap(
      ({ functionResponse }) => (functionResponse && resolveCall(functionResponse)) ?? [],
    );
    if (results.length > 0) messages.push({ role: "tool", content: results });
    if (role === "model") {
      closeOpenCalls();
      const content = parts.flatMap((part) => {
        const { functionCall } = part;
        if (!functionCall) return toAiSdkAssistantPart(part);
        const { id = `call_${callCount++}`, name = "", args = {} } = functionCall;
        openCalls.push({ id, name });
        return {
          type: "tool-call" as const,
          toolCallId: id,
          toolName: name,
          input: args,
          ...decodeProviderMetadata(part),
        };
      });
      if (content.length > 0) messages.push({ role: "assistant", content });
    } else {
      const content = parts.flatMap(toAiSdkUserPart);
      if (content.length === 0) continue;
      closeOpenCalls();
      messages.push({ role: "user", content });
    }
  }
  closeOpenCalls();
  return messages;
}

function toAiSdkAssistantPart(part: GenaiContentPart): AssistantPart | [] {
  const { text, thought } = part;
  if (text) return { type: thought ? "reasoning" : "text", text, ...decodeProviderMetadata(part) };
  return toCodeTextPart(part);
}

function toAiSdkUserPart(part: GenaiContentPart): UserPart | [] {
  const { text, inlineData, fileData } = part;
  if (text) return { type: "text", text };
  if (inlineData?.data) {
    const { data, mimeType = "application/octet-stream", displayName } = inlineData;
    return { type: "file", data, mediaType: mimeType, ...(displayName && { filename: displayName }) };
  }
  if (fileData?.fileUri) {
    const { fileUri, mimeType = "application/octet-stream" } = fileData;
    return { type: "file", data: new URL(fileUri), mediaType: mimeType };
  }
  return toCodeTextPart(part);
}

/** Converts executed code to text, because AI SDK messages have no part type for executed code. */
function toCodeTextPart({
  executableCode,
  codeExecutionResult,
}: GenaiContentPart): { type: "text"; text: string } | [] {
  if (executableCode?.code) return { type: "text", text: `\`\`\`\n${executableCode.code}\n\`\`\`` };
  if (codeExecutionResult?.output)
    return { type: "text", text: `\`\`\`\n${codeExecutionResult.output}\n\`\`\`` };
  return [];
}

const PROVIDER_METADATA_SIGNATURE_PREFIX = "ai-sdk:";

/**
 * Encodes the provider metadata of a message part, for example a thought signature or an item id. Later
 * requests must send a provider's metadata back to that provider. The encoded metadata is stored in
 * `thoughtSignature`, where ADK also stores Gemini's signatures.
 */
export function encodeProviderMetadata(metadata: ProviderMetadata | undefined): {
  thoughtSignature?: string;
} {
  if (!metadata || Object.keys(metadata).length === 0) return {};
  return {
    thoughtSignature: toBase64(
      new TextEncoder().encode(PROVIDER_METADATA_SIGNATURE_PREFIX + JSON.stringify(metadata)),
    ),
  };
}

function decodeProviderMetadata({ thoughtSignature }: GenaiContentPart): {
  providerOptions?: ProviderMetadata;
} {
  if (!thoughtSignature) return {};
  const text = new TextDecoder().decode(fromBase64(thoughtSignature));
  // The signature belongs to another model.
  return text.startsWith(PROVIDER_METADATA_SIGNATURE_PREFIX)
    ? {
        providerOptions: JSON.parse(
          text.slice(PROVIDER_METADATA_SIGNATURE_PREFIX.length),
        ) as ProviderMetadata,
      }
    : {};
}
