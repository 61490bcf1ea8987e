import type { Artifact, JsonObject, JsonValue } from "../../protocol/index.ts";
import type { CardUsage } from "../../cards/index.ts";
import { defined } from "./defined.ts";
import { addUsage, NOTHING } from "./spending.ts";

/** Where agents of ADK say what an event has cost, on the artifact that the event became. */
const USAGE = "adk_usage_metadata";

/** What an agent of ADK has spent on a task, by its artifacts; of one that says nothing of it, nothing is known. */
export function adkUsage(artifacts: readonly Artifact[] = []): CardUsage {
  const said = artifacts.flatMap(({ metadata }) => usageOf(metadata?.[USAGE]) ?? []);
  return said.reduce<CardUsage | undefined>(addUsage, undefined) ?? NOTHING;
}

/** Gemini's counts; what was thought is not among its candidates. */
function usageOf(value: JsonValue | undefined): CardUsage | undefined {
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
    ...defined({ cached_input_tokens: count("cachedContentTokenCount"), reasoning_output_tokens }),
    source: "reported",
  };
}
