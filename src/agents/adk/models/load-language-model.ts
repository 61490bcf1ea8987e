import { createRequire } from "node:module";
import { join } from "node:path";
import type { LanguageModel, LogWarningsFunction } from "ai";
import { A2AError } from "../../../protocol/index.ts";

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

type ProviderFactory = (options: object) => { languageModel(name: string): LanguageModel };

/** The environment variables that may contain the API key of a provider. Other packages read their own variables. */
const API_KEY_VARIABLES: Readonly<Record<string, readonly string[]>> = {
  gemini: ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_API_KEY"],
  openai: ["OPENAI_API_KEY"],
  anthropic: ["ANTHROPIC_API_KEY"],
};
/** Providers whose AI SDK package has another name. */
const PROVIDER_PACKAGES: Readonly<Record<string, string>> = {
  gemini: "@ai-sdk/google",
  ollama: "@ai-sdk/openai-compatible",
};
const OLLAMA_OPTIONS = {
  name: "ollama",
  baseURL: "http://127.0.0.1:11434/v1",
  // Without this flag, the provider does not send the response schema.
  supportsStructuredOutputs: true,
};

/** Parses a name in the form `provider:model`. Throws if the name has another form. */
export function parseModelName(name: string): { readonly provider: string; readonly modelName: string } {
  const [, provider, modelName = ""] = /^([\w-]+):(.+)$/.exec(name) ?? [];
  if (provider !== undefined) return { provider: provider === "google" ? "gemini" : provider, modelName };
  throw new A2AError(
    "INTERNAL",
    `"${name}" is not a model name. Use provider:model, for example gemini:gemini-2.5-flash or ollama:qwen3.`,
  );
}

/**
 * Returns a function that loads the AI SDK language model for a name in the form `provider:model`. Throws if the
 * provider's package or API key is missing.
 */
export function loadLanguageModel(name: string, options: ModelOptions = {}): () => Promise<LanguageModel> {
  const { provider, modelName } = parseModelName(name);
  const apiKey = options.apiKey ?? (provider in API_KEY_VARIABLES ? readApiKey(provider) : undefined);
  const packageName = PROVIDER_PACKAGES[provider] ?? `@ai-sdk/${provider}`;
  const { require, path } = resolveProviderPackage(packageName);
  return async () => {
    const createProvider = findProviderFactoryExport(require(path) as Record<string, unknown>, packageName);
    return createProvider({
      ...(provider === "ollama" && OLLAMA_OPTIONS),
      ...options,
      ...(apiKey !== undefined && { apiKey }),
    }).languageModel(modelName);
  };
}

/** Reads the API key of a provider from the environment. Throws if the environment has no key. */
export function readApiKey(provider: string): string {
  const variables = API_KEY_VARIABLES[provider] ?? [];
  const key = variables.map((variable) => process.env[variable]).find(Boolean);
  if (key !== undefined) return key;
  throw new A2AError(
    "INTERNAL",
    `The ${provider} model requires an API key. Set ${variables.join(" or ")}, or pass "apiKey".`,
  );
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

/**
 * Redirects the warnings of the AI SDK, for example about a setting that a model does not support, to a function, which
 * receives each distinct warning once. The redirection applies to the entire process, so only applications should use it.
 */
export function redirectModelWarnings(tell: (warning: string) => void): void {
  const seen = new Set<string>();
  const log: LogWarningsFunction = ({ warnings, provider, model }) => {
    for (const warning of warnings) {
      const { feature, details, message } = { feature: "", details: "", message: "", ...warning };
      const texts = [message, feature && `${feature} is not supported`, details].filter(Boolean);
      const line = `${provider} ${model}: ${texts.join(", ")}`;
      if (!seen.has(line)) tell(line);
      seen.add(line);
    }
  };
  globalThis.AI_SDK_LOG_WARNINGS = log;
}
