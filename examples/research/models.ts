/** The models of the AI SDK, by `provider:model`. Keys are where each provider looks for its own: `OPENAI_API_KEY` … */
import { embedMany, type EmbeddingModel, type LanguageModel } from "ai";
import type { Embed } from "./search-index.ts";

/** What a model server needs of the environment; nothing else is passed on to the process that embeds. */
export const MODEL_VARIABLES = [
  "EMBEDDING_MODEL",
  "OPENAI_API_KEY",
  "OPENAI_BASE_URL",
  "GOOGLE_GENERATIVE_AI_API_KEY",
];

/** `openai:…` (also whatever speaks its chat API at `OPENAI_BASE_URL`), `google:…` or `anthropic:…`. */
export async function createLanguageModel(name: string): Promise<LanguageModel> {
  const [provider, model] = splitModelName(name);
  if (provider === "openai") return (await import("@ai-sdk/openai")).openai.chat(model);
  if (provider === "google") return (await import("@ai-sdk/google")).google(model);
  if (provider === "anthropic") return (await import("@ai-sdk/anthropic")).anthropic(model);
  throw new Error(`RESEARCH_MODEL is ${name}; write openai:…, google:… or anthropic:….`);
}

/** `openai:text-embedding-3-small`, `google:gemini-embedding-001`. */
export async function createEmbedder(name: string): Promise<Embed> {
  const model = await createEmbeddingModel(name);
  return async (values) => (await embedMany({ model, values })).embeddings;
}

async function createEmbeddingModel(name: string): Promise<EmbeddingModel> {
  const [provider, model] = splitModelName(name);
  if (provider === "openai") return (await import("@ai-sdk/openai")).openai.embeddingModel(model);
  if (provider === "google") return (await import("@ai-sdk/google")).google.embeddingModel(model);
  throw new Error(`EMBEDDING_MODEL is ${name}; write openai:… or google:….`);
}

function splitModelName(name: string): [provider: string, model: string] {
  const at = name.indexOf(":");
  return [name.slice(0, at), name.slice(at + 1)];
}
