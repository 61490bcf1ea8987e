import type { BaseLlm } from "@google/adk";
import { ScriptedLlm } from "../../agents/adk/index.ts";
import { createModel } from "../../agents/adk/models/index.ts";
import { assistantModelScript } from "./assistant-model-script.ts";

/**
 * Default model for each environment variable that contains an API key. If several variables are set, the
 * demo uses the first variable in the table.
 */
const MODELS_BY_KEY_VARIABLE: Record<string, string> = {
  GEMINI_API_KEY: "gemini:gemini-2.5-flash",
  GOOGLE_API_KEY: "gemini:gemini-2.5-flash",
  OPENAI_API_KEY: "openai:gpt-5-mini",
  ANTHROPIC_API_KEY: "anthropic:claude-haiku-4-5",
};

interface ChosenModel {
  llm: BaseLlm;
  /** Text that tells users which model the demo uses. */
  description: string;
  /** Name of the language model. Absent for a script. */
  name?: string;
}

/**
 * Returns the model with the given name. Without a name, returns a model for the first available API key,
 * or the scripted model if no API key is set.
 */
export function chooseModel(name: string | undefined, env: Record<string, string | undefined>): ChosenModel {
  if (name !== undefined)
    return { llm: createModel(name), description: name, ...(name.startsWith("scripted:") ? {} : { name }) };
  const key = Object.keys(MODELS_BY_KEY_VARIABLE).find((variable) => env[variable]);
  const modelName = key && MODELS_BY_KEY_VARIABLE[key];
  if (!modelName) {
    const keys = "GEMINI_API_KEY, OPENAI_API_KEY, or ANTHROPIC_API_KEY";
    return createScriptedFallbackModel(
      `no key is set. For a language model, set ${keys}, or pass --model (ollama:qwen3 needs no key)`,
    );
  }
  try {
    return { llm: createModel(modelName), description: `${modelName} (${key} is set)`, name: modelName };
  } catch (error) {
    return createScriptedFallbackModel(`${modelName} cannot be used: ${(error as Error).message}`);
  }
}

function createScriptedFallbackModel(reason: string): ChosenModel {
  // A delay that makes streaming visible.
  const llm = new ScriptedLlm(assistantModelScript, { delayMs: 30 });
  return { llm, description: `scripted, because ${reason}` };
}
