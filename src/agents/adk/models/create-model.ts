import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { createRequire } from "node:module";
import { join } from "node:path";
import { type BaseLlm, Gemini } from "@google/adk";
import type { LanguageModel } from "ai";
import { A2AError } from "../../../protocol/index.ts";
import { AiSdkLlm } from "./ai-sdk-llm.ts";
import { ScriptedLlm } from "./scripted-llm.ts";

/** Options of `createModel`. */
export interface ModelOptions {
  /**
   * API key of the model provider. Default: the environment variable of the provider, for example
   * `OPENAI_API_KEY`.
   */
  apiKey?: string;
  /** Base URL of the provider's API, for example the URL of a proxy or a remote Ollama server. */
  baseURL?: string;
  headers?: Record<string, string>;
}

const assertKnownOptions = defineOptionNames<ModelOptions>()("createModel", "apiKey baseURL headers");

type ProviderFactory = (options: object) => { languageModel(name: string): LanguageModel };

const GEMINI_KEY_VARIABLES = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_API_KEY"];
const API_KEY_VARIABLES: Record<string, string[]> = {
  openai: ["OPENAI_API_KEY"],
  anthropic: ["ANTHROPIC_API_KEY"],
};
const OLLAMA_BASE_URL = "http://127.0.0.1:11434/v1";

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
  const [, provider = "", modelName = ""] = /^([\w-]+):(.+)$/.exec(name) ?? [];
  if (!provider) throw createModelNameError(name);
  if (provider === "gemini" || provider === "google") return createGeminiModel(modelName, options);
  if (provider === "scripted") return new ScriptedLlm(({ text }) => text || "…", { model: name });
  if (provider === "ollama") {
    return createAiSdkProviderModel(name, "@ai-sdk/openai-compatible", modelName, {
      name: "ollama",
      baseURL: OLLAMA_BASE_URL,
      // Without this flag, the provider does not send the response schema.
      supportsStructuredOutputs: true,
      ...options,
    });
  }
  const keys = API_KEY_VARIABLES[provider];
  if (keys && !options.apiKey) readApiKey(provider, keys);
  return createAiSdkProviderModel(name, `@ai-sdk/${provider}`, modelName, options);
}

function createGeminiModel(modelName: string, { apiKey, headers }: ModelOptions): BaseLlm {
  return new Gemini({
    model: modelName,
    apiKey: apiKey ?? readApiKey("gemini", GEMINI_KEY_VARIABLES),
    ...(headers && { headers }),
  });
}

function readApiKey(provider: string, variables: readonly string[]): string {
  for (const variable of variables) {
    const key = process.env[variable];
    if (key) return key;
  }
  throw new A2AError(
    "INTERNAL",
    `The ${provider} model requires an API key. Set ${variables.join(" or ")}, or pass "apiKey".`,
  );
}

function createAiSdkProviderModel(
  name: string,
  packageName: string,
  modelName: string,
  options: object,
): BaseLlm {
  const { require, path } = resolveProviderPackage(packageName);
  return new AiSdkLlm(async () => {
    const exports = require(path) as Record<string, unknown>;
    return findProviderFactoryExport(exports, packageName)(options).languageModel(modelName);
  }, name);
}

/**
 * Returns the `create…` function of an AI SDK provider package. If the package exports several `create…`
 * functions, the function named after the package is preferred, for example `createOpenAI`.
 */
function findProviderFactoryExport(exports: Record<string, unknown>, packageName: string): ProviderFactory {
  const own = `create${packageName.slice(packageName.indexOf("/") + 1).replaceAll("-", "")}`;
  const names = Object.keys(exports).filter((name) => /^create[A-Z]/.test(name));
  const found = names.find((name) => name.toLowerCase() === own) ?? names[0];
  if (found === undefined)
    throw new A2AError(
      "INTERNAL",
      `The package ${packageName} does not export an AI SDK provider. Use the package of a provider.`,
    );
  return exports[found] as ProviderFactory;
}

/** Resolves a package relative to Colloquy first, and then relative to the current project. */
function resolveProviderPackage(packageName: string): { require: NodeJS.Require; path: string } {
  for (const from of [import.meta.url, join(process.cwd(), "package.json")]) {
    const require = createRequire(from);
    try {
      return { require, path: require.resolve(packageName) };
    } catch {
      // Not installed here. Try the next location.
    }
  }
  throw new A2AError(
    "INTERNAL",
    `This model requires the package ${packageName}. Run: npm install ai ${packageName}`,
  );
}

function createModelNameError(name: string): A2AError {
  return new A2AError(
    "INTERNAL",
    `"${name}" is not a model name. Use provider:model, for example gemini:gemini-2.5-flash or ollama:qwen3.`,
  );
}
