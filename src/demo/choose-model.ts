import type { BaseLlm } from "@google/adk";
import { ScriptedLlm } from "../adk/index.ts";
import { createModel } from "../adk/models/index.ts";
import { assistantScript } from "./assistant-script.ts";

/** The model for each key that a machine may have, the first that is set wins. */
const MODELS_BY_KEY_VARIABLE: Record<string, string> = {
  GEMINI_API_KEY: "gemini:gemini-2.5-flash",
  GOOGLE_API_KEY: "gemini:gemini-2.5-flash",
  OPENAI_API_KEY: "openai:gpt-5-mini",
  ANTHROPIC_API_KEY: "anthropic:claude-haiku-4-5",
};

export interface ChosenModel {
  llm: BaseLlm;
  /** What to tell people of it. */
  description: string;
  /** It is a language model, and no script. */
  isReal: boolean;
}

/** The model that was asked for, else one that there is a key for, else the scripted one. */
export function chooseModel(name: string | undefined, env: Record<string, string | undefined>): ChosenModel {
  if (name !== undefined)
    return { llm: createModel(name), description: name, isReal: !name.startsWith("scripted:") };
  const key = Object.keys(MODELS_BY_KEY_VARIABLE).find((variable) => env[variable]);
  const found = key && MODELS_BY_KEY_VARIABLE[key];
  if (!found) {
    const keys = "GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY";
    return chooseScriptedModel(
      `no key is set. For a real model set ${keys}, or pass --model (ollama:qwen3 needs none)`,
    );
  }
  try {
    return { llm: createModel(found), description: `${found} (${key} is set)`, isReal: true };
  } catch (error) {
    return chooseScriptedModel(`${found} cannot be used: ${(error as Error).message}`);
  }
}

function chooseScriptedModel(why: string): ChosenModel {
  // A pace at which one can watch it stream.
  const llm = new ScriptedLlm(assistantScript, { delayMs: 30 });
  return { llm, description: `scripted, because ${why}`, isReal: false };
}
