/** A model in the terms of OpenTelemetry's conventions for generative AI. */
export interface ModelAttributes {
  /** `gen_ai.provider.name`, for example `openai`. */
  readonly provider: string;
  /** `gen_ai.request.model`: the name that the provider received. */
  readonly model: string;
}

/** Names of the conventions by the provider names of the AI SDK, where they differ. */
const PROVIDERS_BY_PREFIX: ReadonlyMap<string, string> = new Map([
  ["amazon-bedrock", "aws.bedrock"],
  ["azure", "azure.ai.openai"],
  ["bedrock", "aws.bedrock"],
  ["gemini", "gcp.gemini"],
  ["google", "gcp.gemini"],
  ["google-vertex", "gcp.vertex_ai"],
  ["mistral", "mistral_ai"],
  ["moonshotai", "moonshot_ai"],
  ["vertex", "gcp.vertex_ai"],
  ["xai", "x_ai"],
]);

/** Providers of model names without a prefix. */
const PROVIDERS_BY_MODEL_NAME: readonly (readonly [pattern: RegExp, provider: string])[] = [
  [/^gemini/, "gcp.gemini"],
  [/^(?:gpt-|chatgpt|o[1-9](?:-|$))/, "openai"],
  [/^claude/, "anthropic"],
  [/^(?:mistral|codestral|ministral|magistral)/, "mistral_ai"],
  [/^deepseek/, "deepseek"],
  [/^grok/, "x_ai"],
  [/^command/, "cohere"],
  [/^kimi/, "moonshot_ai"],
];

/** Provider of programs that replace a model, such as `oracle` and scripted models, which call no service. */
const NO_MODEL_PROVIDER = "colloquy";

/** Splits the id of a model, such as `openai:gpt-5-mini`, `mistral/large`, or `claude-opus-5`. */
export function parseModelId(id: string): ModelAttributes {
  const [, prefix, name] = /^([a-z][\w.-]*)[:/](.+)$/.exec(id) ?? [];
  if (prefix !== undefined && name !== undefined)
    return { provider: PROVIDERS_BY_PREFIX.get(prefix) ?? prefix, model: name };
  const found = PROVIDERS_BY_MODEL_NAME.find(([pattern]) => pattern.test(id));
  return { provider: found?.[1] ?? NO_MODEL_PROVIDER, model: id };
}
