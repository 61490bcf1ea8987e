import type { BaseLlm } from "@google/adk";
import { ScriptedLlm } from "../adk/index.ts";
import { createModel } from "../adk/models/index.ts";
import { assistantScript } from "./assistant-script.ts";

/** Models by the environment variable of their API key. The first variable that is set is used. */
const MODELS_BY_KEY_VARIABLE: Record<string, string> = {
  GEMINI_API_KEY: "gemini:gemini-2.5-flash",
  GOOGLE_API_KEY: "gemini:gemini-2.5-flash",
  OPENAI_API_KEY: "openai:gpt-5-mini",
  ANTHROPIC_API_KEY: "anthropic:claude-haiku-4-5",
};

interface ChosenModel {
  llm: BaseLlm;
  /** Text that tells users which model was chosen. */
  description: string;
  /** True for a language model, false for a script. */
  isReal: boolean;
}

/**
 * Returns the named model. Without a name, returns a model for an available API key, or else the scripted
 * model.
 */
export function chooseModel(name: string | undefined, env: Record<string, string | undefined>): ChosenModel {
  if (name !== undefined)
    return { llm: createModel(name), description: name, isReal: !name.startsWith("scripted:") };
  const key = Object.keys(MODELS_BY_KEY_VARIABLE).find((variable) => env[variable]);
  const modelName = key && MODELS_BY_KEY_VARIABLE[key];
  if (!modelName) {
    const keys = "GEMINI_API_KEY, OPENAI_API_KEY, or ANTHROPIC_API_KEY";
    return chooseScriptedModel(
      `no key is set. For a language model, set ${keys}, or pass --model (ollama:qwen3 needs no key)`,
    );
  }
  try {
    return { llm: createModel(modelName), description: `${modelName} (${key} is set)`, isReal: true };
  } catch (error) {
    return chooseScriptedModel(`${modelName} cannot be used: ${(error as Error).message}`);
  }
}

function chooseScriptedModel(reason: string): ChosenModel {
  // A delay that makes streaming visible.
  const llm = new ScriptedLlm(assistantScript, { delayMs: 30 });
  return { llm, description: `scripted, because ${reason}`, isReal: false };
}
