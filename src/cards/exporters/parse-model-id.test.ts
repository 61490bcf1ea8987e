import { expect, it } from "vitest";
import { parseModelId } from "./parse-model-id.ts";

it.each([
  ["openai:gpt-5-mini", "openai", "gpt-5-mini"],
  ["google:gemini-3-pro", "gcp.gemini", "gemini-3-pro"],
  ["vertex/gemini-3-pro", "gcp.vertex_ai", "gemini-3-pro"],
  ["bedrock:anthropic.claude-opus-5:0", "aws.bedrock", "anthropic.claude-opus-5:0"],
  ["azure:my-deployment", "azure.ai.openai", "my-deployment"],
  ["xai:grok-5", "x_ai", "grok-5"],
  ["mistral:large", "mistral_ai", "large"],
  ["acme:own-model", "acme", "own-model"],
  ["gemini-3-flash", "gcp.gemini", "gemini-3-flash"],
  ["claude-opus-5", "anthropic", "claude-opus-5"],
  ["gpt-5", "openai", "gpt-5"],
  ["o3", "openai", "o3"],
  ["deepseek-chat", "deepseek", "deepseek-chat"],
  ["oracle", "colloquy", "oracle"],
  ["scripted", "colloquy", "scripted"],
])("the model %s has the provider %s and the name %s", (id, provider, model) => {
  expect(parseModelId(id)).toEqual({ provider, model });
});
