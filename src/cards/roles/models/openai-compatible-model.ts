import type { CardTokenUsage } from "../../index.ts";
import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { A2AError, parseModelRetryDelay, stripTrailingCharacters } from "../../../protocol/index.ts";
import type { ModelReply, ModelRequest, RoleModel } from "../role-model.ts";

/** Options for `createOpenAiCompatibleModel`. */
export interface OpenAiCompatibleModelOptions {
  /** Base URL of the API without `/chat/completions`, for example `http://127.0.0.1:8000/v1`. */
  readonly baseUrl: string;
  /** Name of the model at the server, and ID of the role model in recordings. */
  readonly model: string;
  /** API key, which is sent as a bearer token. Default: none. */
  readonly apiKey?: string;
  /** The `fetch` function that sends the HTTP requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
}

const assertKnownOptions = defineOptionNames<OpenAiCompatibleModelOptions>()(
  "createOpenAiCompatibleModel",
  "apiKey baseUrl fetch model",
);

/**
 * Creates a role model for any server with OpenAI's chat completions API, such as vLLM, llama.cpp, or
 * OpenRouter. The model requests JSON with a schema. If the server rejects the schema, the model omits the
 * schema from all further requests. Throws `INVALID_PARAMS` if `baseUrl` is not an HTTP URL.
 */
export function createOpenAiCompatibleModel(options: OpenAiCompatibleModelOptions): RoleModel {
  assertKnownOptions(options);
  const { baseUrl, model, apiKey, fetch: fetchFunction = fetch } = options;
  if (!/^https?:\/\//.test(baseUrl) || !URL.canParse(baseUrl))
    throw new A2AError(
      "INVALID_PARAMS",
      `The base URL ${JSON.stringify(baseUrl)} is not an HTTP URL. Use a URL such as http://127.0.0.1:8000/v1.`,
    );
  const url = `${stripTrailingCharacters(baseUrl, "/")}/chat/completions`;
  let supportsSchema = true;
  return {
    id: model,
    evidenceKind: "live-model",
    server: baseUrl,
    async complete(request): Promise<ModelReply> {
      const response = await fetchFunction(url, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          accept: "application/json",
          ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
        },
        body: JSON.stringify(toChatRequest(model, request, supportsSchema)),
        signal: request.signal,
        // On a redirect, `fetch` would send the prompt to another host.
        redirect: "manual",
      });
      const text = await response.text();
      if (response.ok) return toModelReply(text, url);
      const isSchemaRejected =
        request.schema !== undefined &&
        supportsSchema &&
        (response.status === 400 || response.status === 422) &&
        /response_format|json_schema/.test(text);
      if (isSchemaRejected) supportsSchema = false;
      throw new OpenAiCompatibleModelError(url, response, text, isSchemaRejected);
    },
  };
}

/** Error response of an OpenAI-compatible server. `describeModelFailure` reads the members. */
class OpenAiCompatibleModelError extends Error {
  override readonly name = "OpenAiCompatibleModelError";
  readonly httpStatus: number;
  readonly retryAfterMs: number | undefined;
  /** Whether the next request omits the rejected schema, or `undefined` if the status decides. */
  readonly isRetryable: boolean | undefined;

  constructor(url: string, response: Response, text: string, isSchemaRejected: boolean) {
    super(`${url} answered ${response.status}: ${extractErrorMessage(text)}`);
    this.httpStatus = response.status;
    this.retryAfterMs = isSchemaRejected
      ? 0
      : parseModelRetryDelay((name) => response.headers.get(name), Date.now());
    this.isRetryable = isSchemaRejected ? true : undefined;
  }
}

function toChatRequest(
  model: string,
  { messages, schema, maxTokens, temperature, seed }: ModelRequest,
  supportsSchema: boolean,
): object {
  return {
    model,
    messages: messages.map(({ role, text }) => ({ role, content: text })),
    ...(maxTokens !== undefined && { max_tokens: maxTokens }),
    ...(temperature !== undefined && { temperature }),
    ...(seed !== undefined && { seed }),
    ...(schema &&
      supportsSchema && {
        response_format: { type: "json_schema", json_schema: { name: "reply", strict: true, schema } },
      }),
  };
}

/** Members of a chat completion that the role model reads. */
interface ChatCompletion {
  readonly model?: unknown;
  readonly choices?: readonly {
    readonly message?: { readonly content?: unknown; readonly refusal?: unknown } | null;
    readonly finish_reason?: unknown;
  }[];
  readonly usage?: {
    readonly prompt_tokens?: unknown;
    readonly completion_tokens?: unknown;
    readonly prompt_tokens_details?: { readonly cached_tokens?: unknown } | null;
    readonly completion_tokens_details?: { readonly reasoning_tokens?: unknown } | null;
  } | null;
}

/** Converts a response to a reply. A refusal is a reply without text and with the finish reason `refusal`. */
function toModelReply(text: string, url: string): ModelReply {
  const { choices, usage, model } = parseCompletion(text, url);
  const { message, finish_reason } = choices?.[0] ?? {};
  if (!message) throw new Error(`${url} answered without a message: ${text.slice(0, 200)}`);
  const content = typeof message.content === "string" ? message.content : "";
  const reason = typeof finish_reason === "string" ? finish_reason : "stop";
  const isRefusal = content === "" && typeof message.refusal === "string" && message.refusal !== "";
  const tokens = toTokenUsage(usage);
  return {
    text: content,
    finish: isRefusal ? "refusal" : reason === "content_filter" ? "filter" : reason,
    ...(tokens && { usage: tokens }),
    ...(typeof model === "string" && { model }),
  };
}

function parseCompletion(text: string, url: string): ChatCompletion {
  try {
    return (JSON.parse(text) as ChatCompletion | null) ?? {};
  } catch (cause) {
    throw new Error(`${url} answered with invalid JSON: ${text.slice(0, 200)}`, { cause });
  }
}

function toTokenUsage(usage: ChatCompletion["usage"]): CardTokenUsage | undefined {
  const { prompt_tokens: input, completion_tokens: output } = usage ?? {};
  if (!isTokenCount(input) || !isTokenCount(output)) return undefined;
  const cached = usage?.prompt_tokens_details?.cached_tokens;
  const reasoning = usage?.completion_tokens_details?.reasoning_tokens;
  return {
    input_tokens: input,
    output_tokens: output,
    ...(isTokenCount(cached) && { cached_input_tokens: cached }),
    ...(isTokenCount(reasoning) && { reasoning_output_tokens: reasoning }),
    source: "reported",
  };
}

function isTokenCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Returns the error message of a response in OpenAI's format, or the beginning of another response. */
function extractErrorMessage(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: { message?: unknown } | string };
    const message = typeof error === "string" ? error : error?.message;
    if (typeof message === "string" && message !== "") return message;
  } catch {
    // Other servers respond with plain text.
  }
  return text.trim().slice(0, 200) || "no message";
}
