import { BaseLlm, type BaseLlmConnection, type LlmRequest, type LlmResponse } from "@google/adk";
import type {
  AssistantContent,
  FinishReason,
  JSONValue,
  LanguageModel,
  LanguageModelUsage,
  ModelMessage,
  ProviderMetadata,
  ToolContent,
  ToolSet,
  UserContent,
} from "ai";
import { A2AError, fromBase64, type JsonObject, type JsonValue, toBase64 } from "../../../protocol/index.ts";
import type { Content, GenaiContentPart, GenaiSchema, GenerateContentConfig } from "./genai-types.ts";

/** An AI SDK model, or a function that loads the model on the first request. */
type AiSdkModelOrLoader = LanguageModel | (() => Promise<LanguageModel>);

/**
 * ADK model that calls any AI SDK language model (`ai` and its provider packages). The model supports
 * instructions, history with function calls and responses, tools, files, streaming, reasoning, token usage,
 * and abort signals. The ADK agent, not the AI SDK, executes the tools.
 */
export class AiSdkLlm extends BaseLlm {
  readonly #loadModel: () => Promise<LanguageModel>;

  constructor(source: AiSdkModelOrLoader, name?: string) {
    super({ model: name ?? getModelName(source) });
    this.#loadModel = typeof source === "function" ? source : () => Promise.resolve(source);
  }

  override async *generateContentAsync(
    request: LlmRequest,
    stream = false,
    abortSignal?: AbortSignal,
  ): AsyncGenerator<LlmResponse, void> {
    this.maybeAppendUserContent(request);
    try {
      const { generateText, jsonSchema, NoObjectGeneratedError, Output, streamText } = await importAiSdk();
      const { config = {} } = request;
      const schema = getResponseSchema(config);
      const settings = {
        model: await this.#loadModel(),
        messages: toAiSdkMessages(request.contents),
        ...toAiSdkCallSettings(config),
        ...toAiSdkToolSettings(config, jsonSchema),
        ...toAiSdkRetrySettings(config),
        ...(schema && { output: Output.object({ schema: jsonSchema(schema) }) }),
        ...(abortSignal && { abortSignal }),
      };
      const builder = new LlmResponseBuilder();
      if (stream) {
        // Errors arrive as stream parts. Without this option, the SDK also prints them.
        const { stream: parts } = streamText({ ...settings, onError: () => {} });
        for await (const part of parts) {
          if (part.type === "text-delta" || part.type === "reasoning-delta") {
            const thought = part.type === "reasoning-delta";
            builder.addText(part.text, thought, part.providerMetadata);
            const chunk: GenaiContentPart = thought ? { text: part.text, thought } : { text: part.text };
            if (part.text) yield { content: { role: "model", parts: [chunk] }, partial: true };
          } else if (part.type === "text-end" || part.type === "reasoning-end") {
            builder.endText(part.providerMetadata);
          } else if (part.type === "tool-call") builder.addCall(part);
          else if (part.type === "finish-step") builder.modelVersion = part.response.modelId;
          else if (part.type === "finish") yield builder.build(part.finishReason, part.totalUsage);
          else if (part.type === "error") throw part.error;
        }
      } else {
        const result = await generateText(settings).catch((error: unknown) => {
          // An answer that does not match the JSON schema is returned, as with Google's models. The caller
          // validates it.
          if (!NoObjectGeneratedError.isInstance(error) || !error.usage) throw error;
          const { text = "", finishReason = "other", usage, response } = error;
          return {
            content: [{ type: "text" as const, text, providerMetadata: undefined }],
            finishReason,
            usage,
            response,
          };
        });
        for (const part of result.content) {
          if (part.type === "text" || part.type === "reasoning") {
            builder.addText(part.text, part.type === "reasoning", part.providerMetadata);
            builder.endText(part.providerMetadata);
          } else if (part.type === "tool-call") builder.addCall(part);
        }
        builder.modelVersion = result.response?.modelId;
        yield builder.build(result.finishReason, result.usage);
      }
    } catch (error) {
      if (!abortSignal?.aborted) throw toGenaiError(error);
    }
  }

  override connect(): Promise<BaseLlmConnection> {
    return Promise.reject(
      new Error(
        "AI SDK models do not support live connections. Run the agent without bidirectional streaming.",
      ),
    );
  }
}

/** Returns a complete response that contains all parts of a stream. */
class LlmResponseBuilder {
  /** Name of the model, as the provider reports it. */
  modelVersion: string | undefined;
  readonly #parts: GenaiContentPart[] = [];
  #openTextPart: GenaiContentPart | undefined;

  addText(text: string, thought: boolean, metadata: ProviderMetadata | undefined): void {
    if (this.#openTextPart && Boolean(this.#openTextPart.thought) !== thought) this.#openTextPart = undefined;
    if (!this.#openTextPart) {
      this.#openTextPart = thought ? { text: "", thought } : { text: "" };
      this.#parts.push(this.#openTextPart);
    }
    this.#openTextPart.text += text;
    Object.assign(this.#openTextPart, encodeProviderMetadata(metadata));
  }

  endText(metadata: ProviderMetadata | undefined): void {
    if (this.#openTextPart) Object.assign(this.#openTextPart, encodeProviderMetadata(metadata));
    this.#openTextPart = undefined;
  }

  addCall(call: {
    toolCallId: string;
    toolName: string;
    input: unknown;
    providerExecuted?: boolean;
    providerMetadata?: ProviderMetadata;
  }): void {
    this.#openTextPart = undefined;
    // Skips tools that the provider runs itself, such as a web search, because they need no response.
    if (call.providerExecuted) return;
    const args = typeof call.input === "object" && call.input !== null ? call.input : { input: call.input };
    const functionCall = { id: call.toolCallId, name: call.toolName, args: args as Record<string, unknown> };
    this.#parts.push({ functionCall, ...encodeProviderMetadata(call.providerMetadata) });
  }

  build(reason: FinishReason, usage: LanguageModelUsage): LlmResponse {
    const parts = this.#parts.filter((part) => part.functionCall ?? part.text);
    const response: LlmResponse = {
      finishReason: GENAI_FINISH_REASONS[reason] as GenaiFinishReason,
      usageMetadata: toUsageMetadata(usage),
      ...(this.modelVersion && { modelVersion: this.modelVersion }),
    };
    if (parts.length > 0) response.content = { role: "model", parts };
    // As with ADK's Gemini model, an empty answer is an error unless the model stopped intentionally.
    else if (reason !== "stop" && reason !== "tool-calls") {
      response.errorCode = String(GENAI_FINISH_REASONS[reason]);
      response.errorMessage = `The model returned an empty answer (finish reason: ${reason}).`;
    }
    return response;
  }
}

type GenaiFinishReason = NonNullable<LlmResponse["finishReason"]>;

/**
 * The finish reasons of Google's `genai` package. The finish reasons are strings, because `genai`'s enum
 * would require an import of the `genai` package.
 */
const GENAI_FINISH_REASONS: Record<FinishReason, unknown> = {
  stop: "STOP",
  "tool-calls": "STOP",
  length: "MAX_TOKENS",
  "content-filter": "SAFETY",
  interrupted: "OTHER",
  error: "OTHER",
  other: "OTHER",
};

function toUsageMetadata({
  inputTokens,
  inputTokenDetails,
  outputTokens,
  outputTokenDetails,
  totalTokens,
}: LanguageModelUsage): NonNullable<LlmResponse["usageMetadata"]> {
  const { reasoningTokens } = outputTokenDetails ?? {};
  const counts = {
    promptTokenCount: inputTokens,
    cachedContentTokenCount: inputTokenDetails?.cacheReadTokens,
    // Google counts thoughts in addition to the candidates, and the AI SDK includes them.
    candidatesTokenCount: outputTokens === undefined ? undefined : outputTokens - (reasoningTokens ?? 0),
    thoughtsTokenCount: reasoningTokens,
    totalTokenCount: totalTokens,
  };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));
}

function toAiSdkCallSettings(config: GenerateContentConfig): object {
  const { temperature, topP, topK, maxOutputTokens, presencePenalty, frequencyPenalty, seed, stopSequences } =
    config;
  const instructions = extractInstructionText(config.systemInstruction);
  const settings = {
    temperature,
    topP,
    topK,
    maxOutputTokens,
    presencePenalty,
    frequencyPenalty,
    seed,
    stopSequences,
    instructions: instructions || undefined,
  };
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

/** Converts the number of attempts, which includes the first one, to the number of retries. */
function toAiSdkRetrySettings({ httpOptions }: GenerateContentConfig): { maxRetries?: number } {
  const attempts = httpOptions?.retryOptions?.attempts;
  return attempts === undefined ? {} : { maxRetries: Math.max(0, attempts - 1) };
}

/** Returns the text of an instruction, in any of the forms that `genai` accepts. */
function extractInstructionText(instruction: unknown): string {
  if (typeof instruction === "string") return instruction;
  if (Array.isArray(instruction)) return instruction.map(extractInstructionText).join("\n\n");
  if (typeof instruction !== "object" || instruction === null) return "";
  if ("parts" in instruction) return extractInstructionText(instruction.parts);
  return "text" in instruction && typeof instruction.text === "string" ? instruction.text : "";
}

function getResponseSchema({
  responseSchema: schema,
  responseJsonSchema: json,
}: GenerateContentConfig): JsonObject | undefined {
  if (json) return json as JsonObject;
  return schema ? toJsonSchema(schema) : undefined;
}

const TOOL_CHOICE_BY_FUNCTION_CALLING_MODE: Record<string, "auto" | "required" | "none"> = {
  AUTO: "auto",
  ANY: "required",
  NONE: "none",
};

function toAiSdkToolSettings(
  { tools = [], toolConfig }: GenerateContentConfig,
  jsonSchema: typeof import("ai").jsonSchema,
): { tools?: ToolSet; toolChoice?: "auto" | "required" | "none" } {
  const declared = tools.flatMap((tool) =>
    "functionDeclarations" in tool ? (tool.functionDeclarations ?? []) : [],
  );
  if (declared.length === 0) return {};
  const set: ToolSet = {};
  for (const { name = "", description = "", parameters, parametersJsonSchema } of declared) {
    const schema = (parametersJsonSchema as JsonObject | undefined) ?? toJsonSchema(parameters);
    set[name] = { description, inputSchema: jsonSchema(schema) };
  }
  const choice = TOOL_CHOICE_BY_FUNCTION_CALLING_MODE[toolConfig?.functionCallingConfig?.mode ?? ""];
  return choice ? { tools: set, toolChoice: choice } : { tools: set };
}

/**
 * Converts an error to the message format of Google's SDK, from which ADK reads the error
 * code.
 */
function toGenaiError(error: unknown): Error {
  if (!(error instanceof Error) || error instanceof A2AError) return A2AError.from(error);
  // After retries, the SDK throws an error whose `lastError` contains the reason.
  const cause = "lastError" in error && error.lastError instanceof Error ? error.lastError : error;
  const code = "statusCode" in cause && typeof cause.statusCode === "number" ? cause.statusCode : cause.name;
  return new Error(JSON.stringify({ error: { code, message: cause.message } }), { cause: error });
}

function getModelName(source: AiSdkModelOrLoader): string {
  if (typeof source === "string") return source;
  return "modelId" in source && typeof source.modelId === "string" ? source.modelId : "ai-sdk";
}

async function importAiSdk(): Promise<typeof import("ai")> {
  try {
    return await import("ai");
  } catch (cause) {
    throw new A2AError("INTERNAL", "AI SDK models require the package ai. Run: npm install ai", { cause });
  }
}

/**
 * Converts a `genai` schema to JSON Schema. ADK describes parameters in `genai`'s dialect of JSON Schema,
 * which has upper-case types, `nullable`, and numbers as strings.
 */
function toJsonSchema(schema: GenaiSchema | undefined): JsonObject {
  if (!schema) return { type: "object", properties: {} };
  const {
    type,
    nullable,
    properties,
    items,
    anyOf,
    enum: values,
    example,
    propertyOrdering: _,
    minItems,
    maxItems,
    minLength,
    maxLength,
    minProperties,
    maxProperties,
    default: fallback,
    ...same
  } = schema;
  const result: JsonObject = { ...(same as JsonObject) };
  if (fallback !== undefined) result["default"] = fallback as JsonValue;
  const name = type ? type.toLowerCase() : "";
  if (name && name !== "type_unspecified") result["type"] = nullable ? [name, "null"] : name;
  if (properties) result["properties"] = mapValues(properties, toJsonSchema);
  else if (name === "object") result["properties"] = {};
  if (items) result["items"] = toJsonSchema(items);
  if (anyOf) result["anyOf"] = [...anyOf.map(toJsonSchema), ...(nullable && !type ? [{ type: "null" }] : [])];
  // A nullable enum must list `null` among its values.
  if (values) result["enum"] = nullable ? [...values, null] : values;
  if (example !== undefined) result["examples"] = [example as JsonValue];
  const counts = { minItems, maxItems, minLength, maxLength, minProperties, maxProperties };
  for (const [limit, count] of Object.entries(counts)) {
    if (count !== undefined) result[limit] = Number(count);
  }
  return result;
}

function mapValues<A, B>(record: Record<string, A>, change: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

type AssistantPart = Exclude<AssistantContent, string>[number];
type UserPart = Exclude<UserContent, string>[number];
type ToolResultPart = Extract<ToolContent[number], { type: "tool-result" }>;

/**
 * Converts the contents of an ADK request to AI SDK messages. ADK removes the call ids that it assigned.
 * If a call has no id, the conversion finds its response by name and order. If a call has no response, for
 * example after a crash, the conversion adds an error response. Providers reject a conversation with a
 * missing response.
 */
function toAiSdkMessages(contents: readonly Content[]): ModelMessage[] {
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
function encodeProviderMetadata(metadata: ProviderMetadata | undefined): {
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
