import { omitUndefined } from "../../../base/usage-checks/index.ts";
import type { Artifact, JsonObject, JsonValue } from "../../../protocol/index.ts";
import type { CardTokenUsage } from "../../index.ts";
import { addUsage, NO_USAGE } from "../token-usage.ts";

/** Key in the artifact metadata for the token usage that an ADK agent reports. */
const ADK_USAGE_KEY = "adk_usage_metadata";

/**
 * Returns the sum of the token usage on all artifacts of an ADK agent's task. Returns `NO_USAGE` if no
 * artifact contains token usage.
 */
export function sumAdkUsage(artifacts: readonly Artifact[] = []): CardTokenUsage {
  const usages = artifacts.flatMap(({ metadata }) => parseAdkUsage(metadata?.[ADK_USAGE_KEY]) ?? []);
  return usages.reduce<CardTokenUsage | undefined>(addUsage, undefined) ?? NO_USAGE;
}

/**
 * Converts Gemini token counts to the token usage of a message card. Gemini's `candidatesTokenCount` excludes
 * thinking tokens, so the function adds `thoughtsTokenCount`.
 */
function parseAdkUsage(value: JsonValue | undefined): CardTokenUsage | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const counts: JsonObject = value;
  const count = (name: string): number | undefined => {
    const found = counts[name];
    return typeof found === "number" && Number.isSafeInteger(found) && found >= 0 ? found : undefined;
  };
  const input_tokens = count("promptTokenCount");
  if (input_tokens === undefined) return undefined;
  const reasoning_output_tokens = count("thoughtsTokenCount");
  return {
    input_tokens,
    output_tokens: (count("candidatesTokenCount") ?? 0) + (reasoning_output_tokens ?? 0),
    ...omitUndefined({ cached_input_tokens: count("cachedContentTokenCount"), reasoning_output_tokens }),
    source: "reported",
  };
}
