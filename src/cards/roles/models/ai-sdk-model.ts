import type { LanguageModel, LanguageModelUsage } from "ai";
import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import type { CardTokenUsage } from "../../index.ts";
import { A2AError, type JsonObject, parseModelRetryDelay } from "../../../protocol/index.ts";
import type { ModelReply, ModelRequest, RoleModel } from "../role-model.ts";

/** A language model of the AI SDK, or its name at the gateway. The types of `ai` are not needed to compile a program. */
export type AiSdkLanguageModel =
  | string
  | { readonly specificationVersion: string; readonly provider: string; readonly modelId: string };

/** Options for `createAiSdkModel`. */
export interface AiSdkModelOptions {
  /** ID of the role model in recordings. Default: the name of the model at its provider. */
  readonly id?: string;
  /** Base URL of the model's server, for the description of a run. Default: the server of the provider. */
  readonly server?: string;
}

const assertKnownOptions = defineOptionNames<AiSdkModelOptions>()("createAiSdkModel", "id server");

/** Maximum number of characters of a response in an error message. */
const MAX_EXCERPT_LENGTH = 200;

/**
 * Creates a role model from a language model of the AI SDK (the package `ai` with any provider package). `model` may be
 * a function that loads the language model. The role repeats failed calls, not the SDK. If the server rejects the JSON
 * Schema of a request, the model omits the schema from all further requests.
 */
export function createAiSdkModel(
  model: AiSdkLanguageModel | (() => Promise<AiSdkLanguageModel>),
  options: AiSdkModelOptions = {},
): RoleModel {
  assertKnownOptions(options);
  const { id = getModelName(model), server } = options;
  let supportsSchema = true;
  return {
    id,
    evidenceKind: "live-model",
    ...(server !== undefined && { server }),
    async complete(request): Promise<ModelReply> {
      request.signal.throwIfAborted();
      const { APICallError } = await importAiSdk();
      const languageModel = (typeof model === "function" ? await model() : model) as LanguageModel;
      const schema = supportsSchema ? request.schema : undefined;
      try {
        return await generateReply(languageModel, request, schema);
      } catch (error) {
        request.signal.throwIfAborted();
        if (!APICallError.isInstance(error)) throw error;
        const { statusCode = 0, url, message, responseBody = "", responseHeaders = {} } = error;
        // `fetch` throws if the server does not respond. The SDK wraps the cause of this error.
        if (statusCode === 0 && error.cause instanceof Error)
          throw Object.assign(new Error(`${url} did not answer: ${error.cause.message}`, { cause: error }), {
            isRetryable: error.isRetryable,
          });
        const isSchemaRejected =
          schema !== undefined &&
          [400, 422].includes(statusCode) &&
          /response_format|json_schema|schema/.test(responseBody);
        if (isSchemaRejected) supportsSchema = false;
        // The message of a response in another format is the status text, or is empty.
        const excerpt =
          error.data === undefined ? responseBody.slice(0, MAX_EXCERPT_LENGTH).toWellFormed() : "";
        const reason = [message, excerpt].filter((text) => text !== "").join(": ");
        throw Object.assign(new Error(`${url} answered ${statusCode}: ${reason}`, { cause: error }), {
          httpStatus: statusCode,
          retryAfterMs: isSchemaRejected
            ? 0
            : parseModelRetryDelay((name) => responseHeaders[name] ?? null, Date.now()),
          ...(isSchemaRejected && { isRetryable: true }),
        });
      }
    },
  };
}

function getModelName(model: AiSdkLanguageModel | (() => Promise<AiSdkLanguageModel>)): string {
  if (typeof model === "string") return model;
  if ("modelId" in model) return model.modelId;
  throw new A2AError("INVALID_PARAMS", "A function that loads a model requires the option id.");
}

/** Loads an optional package. */
async function importModelPackage<T>(load: () => Promise<T>, name: string): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    throw new A2AError("INTERNAL", `This model requires the package ${name}. Run: npm install ai ${name}`, {
      cause,
    });
  }
}

const importAiSdk = (): Promise<typeof import("ai")> => importModelPackage(() => import("ai"), "ai");

async function generateReply(
  model: LanguageModel,
  { messages, maxTokens, temperature, seed, signal }: ModelRequest,
  schema: JsonObject | undefined,
): Promise<ModelReply> {
  const { generateText, jsonSchema, NoObjectGeneratedError, Output } = await importAiSdk();
  const instructions = messages.filter(({ role }) => role === "system").map(({ text }) => text);
  const result = await generateText({
    model,
    ...(instructions.length > 0 && { instructions: instructions.join("\n\n") }),
    messages: messages.flatMap(({ role, text }) => (role === "system" ? [] : { role, content: text })),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(seed !== undefined && { seed }),
    ...(schema && { output: Output.object({ schema: jsonSchema(schema), name: "reply" }) }),
    maxRetries: 0,
    abortSignal: signal,
  }).catch((error: unknown) => {
    // The role validates the reply.
    if (!NoObjectGeneratedError.isInstance(error) || !error.usage) throw error;
    const { text = "", finishReason = "other", usage, response } = error;
    return { text, finishReason, usage, response };
  });
  const { text, finishReason, usage, response } = result;
  const isFiltered = finishReason === "content-filter";
  const tokens = toTokenUsage(usage);
  return {
    // The text of a filtered reply is a refusal or a part of an answer.
    text: isFiltered ? "" : text,
    finish: isFiltered ? "filter" : finishReason,
    ...(tokens && { usage: tokens }),
    ...(response && { model: response.modelId }),
  };
}

function toTokenUsage(usage: LanguageModelUsage): CardTokenUsage | undefined {
  const { inputTokens, outputTokens, inputTokenDetails, outputTokenDetails } = usage;
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  // Providers without these counts report 0.
  const { cacheReadTokens = 0 } = inputTokenDetails;
  const { reasoningTokens = 0 } = outputTokenDetails;
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    ...(cacheReadTokens > 0 && { cached_input_tokens: cacheReadTokens }),
    ...(reasoningTokens > 0 && { reasoning_output_tokens: reasoningTokens }),
    source: "reported",
  };
}

/** Options for `createOpenAiCompatibleModel`. */
export interface OpenAiCompatibleModelOptions {
  /** Base URL of the API without `/chat/completions`, for example `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  /** Name of the model at the server, and ID of the role model in recordings. */
  readonly model: string;
  /** API key, which is sent as a bearer token. Default: none. */
  readonly apiKey?: string;
  /**
   * Members that the body of each request contains in addition. A member with the value `null` is removed from the
   * body, as in `{ max_tokens: null, max_completion_tokens: 500 }`. Default: none.
   */
  readonly extraBody?: JsonObject;
  /** The `fetch` function that sends the HTTP requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

const assertKnownOpenAiCompatibleModelOptions = defineOptionNames<OpenAiCompatibleModelOptions>()(
  "createOpenAiCompatibleModel",
  "apiKey baseUrl extraBody fetch model",
);

/**
 * Creates a role model for any server with OpenAI's chat completions API, such as vLLM, llama.cpp, or
 * OpenRouter. Requires the packages `ai` and `@ai-sdk/openai-compatible`. The model requests JSON with a schema. If the
 * server rejects the schema, the model omits the schema from all further requests. Throws `INVALID_PARAMS` if `baseUrl`
 * is not an HTTP URL.
 */
export function createOpenAiCompatibleModel(options: OpenAiCompatibleModelOptions): RoleModel {
  assertKnownOpenAiCompatibleModelOptions(options);
  const { baseUrl, model, apiKey, extraBody, fetch: fetchFunction = fetch } = options;
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl))
    throw new A2AError(
      "INVALID_PARAMS",
      `The base URL ${JSON.stringify(baseUrl)} is not an HTTP URL. Use a URL such as http://127.0.0.1:8000/v1.`,
    );
  const load = async () => {
    const { createOpenAICompatible } = await importModelPackage(
      () => import("@ai-sdk/openai-compatible"),
      "@ai-sdk/openai-compatible",
    );
    const provider = createOpenAICompatible({
      name: "server",
      baseURL: baseUrl,
      ...(apiKey !== undefined && { apiKey }),
      supportsStructuredOutputs: true,
      ...(extraBody && {
        transformRequestBody: (body) =>
          Object.fromEntries(Object.entries({ ...body, ...extraBody }).filter(([, value]) => value !== null)),
      }),
      // On a redirect, `fetch` would send the prompt to another host.
      fetch: (url, init) => fetchFunction(url, { ...init, redirect: "manual" }),
    });
    return provider.languageModel(model);
  };
  return createAiSdkModel(load, { id: model, server: baseUrl });
}
