/**
 * Creates AI SDK models by name (`provider:model`). Each provider reads its own key variable, such as
 * `OPENAI_API_KEY`.
 */
import { embedMany, type EmbeddingModel, type LanguageModel } from "ai";
import type { Embed } from "./search-index.ts";

/** Environment variables for the search server. No other variables are passed to its process. */
export const MODEL_VARIABLES = [
  "EMBEDDING_MODEL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "GOOGLE_GENERATIVE_AI_API_KEY",
];

/**
 * Returns a language model: `openai:…`, `google:…`, or `anthropic:…`. `openai:…` also works with compatible
 * servers at `OPENAI_BASE_URL`.
 */
export async function createLanguageModel(name: string): Promise<LanguageModel> {
  const [provider, model] = splitModelName(name);
  if (provider === "openai") return (await import("@ai-sdk/openai")).openai.chat(model);
  if (provider === "google") return (await import("@ai-sdk/google")).google(model);
  if (provider === "anthropic") return (await import("@ai-sdk/anthropic")).anthropic(model);
  throw new Error(`RESEARCH_MODEL is ${name}. Use openai:…, google:…, or anthropic:….`);
}

/**
 * Returns an embedding function, for example for `openai:text-embedding-3-small` or
 * `google:gemini-embedding-001`.
 */
export async function createEmbedder(name: string): Promise<Embed> {
  const model = await createEmbeddingModel(name);
  return async (values) => (await embedMany({ model, values })).embeddings;
}

async function createEmbeddingModel(name: string): Promise<EmbeddingModel> {
  const [provider, model] = splitModelName(name);
  if (provider === "openai") return (await import("@ai-sdk/openai")).openai.embeddingModel(model);
  if (provider === "google") return (await import("@ai-sdk/google")).google.embeddingModel(model);
  throw new Error(`EMBEDDING_MODEL is ${name}. Use openai:… or google:….`);
}

function splitModelName(name: string): [provider: string, model: string] {
  const at = name.indexOf(":");
  return [name.slice(0, at), name.slice(at + 1)];
}
