import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { A2AError, type JsonObject } from "../../../protocol/index.ts";
import type { RoleModel } from "../role-model.ts";
import { createAiSdkModel, importModelPackage } from "./ai-sdk-model.ts";

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

const assertKnownOptions = defineOptionNames<OpenAiCompatibleModelOptions>()(
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
  assertKnownOptions(options);
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
