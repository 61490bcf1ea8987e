import { type BaseLlm, Gemini } from "@google/adk";
import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { AiSdkLlm } from "./ai-sdk-llm.ts";
import { loadLanguageModel, type ModelOptions, parseModelName, readApiKey } from "./load-language-model.ts";
import { ScriptedLlm } from "./scripted-llm.ts";

const assertKnownOptions = defineOptionNames<ModelOptions>()("createModel", "apiKey baseURL headers");

/**
 * Returns the ADK model for a name in the form `provider:model`.
 *
 * - The name `gemini:gemini-2.5-flash` selects a model from Google's SDK.
 * - The names `openai:gpt-5`, `anthropic:claude-sonnet-4-5`, and `ollama:qwen3` select AI SDK models.
 * - Any other provider name selects that provider's AI SDK package, for example `@ai-sdk/mistral` for
 * `mistral:…`.
 * - The name `scripted:echo` selects a model that repeats its input. Throws if the provider package or the
 * API key is missing.
 */
export function createModel(name: string, options: ModelOptions = {}): BaseLlm {
  assertKnownOptions(options);
  const { provider, modelName } = parseModelName(name);
  if (provider === "scripted") return new ScriptedLlm(({ text }) => text || "…", { model: name });
  if (provider !== "gemini") return new AiSdkLlm(loadLanguageModel(name, options), name);
  const { apiKey = readApiKey(provider), headers } = options;
  return new Gemini({ model: modelName, apiKey, ...(headers && { headers }) });
}
