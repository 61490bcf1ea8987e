import { createRequire } from "node:module";
import { join } from "node:path";
import { type BaseLlm, Gemini } from "@google/adk";
import type { LanguageModel } from "ai";
import { A2AError } from "../../protocol/index.ts";
import { AiSdkLlm } from "./ai-sdk.ts";
import { ScriptedLlm } from "./scripted.ts";

export interface ModelOptions {
  /** Default: the provider's environment variable, for example `OPENAI_API_KEY`. */
  apiKey?: string;
  /** Where the provider's API is, for example a proxy or another machine's Ollama. */
  baseURL?: string;
  headers?: Record<string, string>;
}

type CreateProvider = (options: object) => { languageModel(name: string): LanguageModel };

const GEMINI_KEYS = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_API_KEY"];
const KEYS: Record<string, string[]> = { openai: ["OPENAI_API_KEY"], anthropic: ["ANTHROPIC_API_KEY"] };
const OLLAMA = "http://127.0.0.1:11434/v1";

/**
 * A model for an ADK agent by its name, `provider:model`: `gemini:gemini-2.5-flash` (Google's own SDK),
 * `openai:gpt-5`, `anthropic:claude-sonnet-4-5`, `ollama:qwen3`, or any provider that the AI SDK has a package for
 * (`mistral:…` is `@ai-sdk/mistral`). `scripted:echo` repeats what it hears. A missing package or key is an error here,
 * not at the first message.
 */
export function model(name: string, options: ModelOptions = {}): BaseLlm {
  const [, provider = "", modelName = ""] = /^([\w-]+):(.+)$/.exec(name) ?? [];
  if (!provider) throw misnamed(name);
  if (provider === "gemini" || provider === "google") return gemini(modelName, options);
  if (provider === "scripted") return new ScriptedLlm(({ text }) => text || "…", { model: name });
  if (provider === "ollama") {
    return fromPackage(name, "@ai-sdk/openai-compatible", modelName, {
      name: "ollama",
      baseURL: OLLAMA,
      // Otherwise the schema of an answer would not be sent.
      supportsStructuredOutputs: true,
      ...options,
    });
  }
  const keys = KEYS[provider];
  if (keys && !options.apiKey) keyFrom(provider, keys);
  return fromPackage(name, `@ai-sdk/${provider}`, modelName, options);
}

function gemini(modelName: string, { apiKey, headers }: ModelOptions): BaseLlm {
  return new Gemini({
    model: modelName,
    apiKey: apiKey ?? keyFrom("gemini", GEMINI_KEYS),
    ...(headers && { headers }),
  });
}

function keyFrom(provider: string, variables: readonly string[]): string {
  for (const variable of variables) {
    const key = process.env[variable];
    if (key) return key;
  }
  throw new A2AError(
    "INTERNAL",
    `The ${provider} model needs a key: set ${variables.join(" or ")}, or pass apiKey.`,
  );
}

function fromPackage(name: string, packageName: string, modelName: string, options: object): BaseLlm {
  const { require, path } = locate(packageName);
  return new AiSdkLlm(async () => {
    const exports = require(path) as Record<string, unknown>;
    return createProviderIn(exports, packageName)(options).languageModel(modelName);
  }, name);
}

/** A provider's package exports one `create…` of its own name, such as `createOpenAI`, sometimes beside others. */
function createProviderIn(exports: Record<string, unknown>, packageName: string): CreateProvider {
  const own = `create${packageName.slice(packageName.indexOf("/") + 1).replaceAll("-", "")}`;
  const names = Object.keys(exports).filter((name) => /^create[A-Z]/.test(name));
  const found = names.find((name) => name.toLowerCase() === own) ?? names[0];
  if (found === undefined)
    throw new A2AError("INTERNAL", `${packageName} does not export an AI SDK provider.`);
  return exports[found] as CreateProvider;
}

/** Looks beside this package and in the project that runs, in that order. */
function locate(packageName: string): { require: NodeJS.Require; path: string } {
  for (const from of [import.meta.url, join(process.cwd(), "package.json")]) {
    const require = createRequire(from);
    try {
      return { require, path: require.resolve(packageName) };
    } catch {
      // Not there; the next place may have it.
    }
  }
  throw new A2AError(
    "INTERNAL",
    `This model needs the package ${packageName}: npm install ai ${packageName}`,
  );
}

function misnamed(name: string): A2AError {
  return new A2AError(
    "INTERNAL",
    `"${name}" does not name a model; write provider:model, for example gemini:gemini-2.5-flash or ollama:qwen3.`,
  );
}
