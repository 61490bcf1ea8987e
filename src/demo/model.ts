import type { BaseLlm } from "@google/adk";
import { ScriptedLlm } from "../adk/index.ts";
import { model } from "../adk/models/index.ts";
import { assistantScript } from "./script.ts";

/** The model for each key that a machine may have, the first that is set wins. */
const BY_KEY: Record<string, string> = {
  GEMINI_API_KEY: "gemini:gemini-2.5-flash",
  GOOGLE_API_KEY: "gemini:gemini-2.5-flash",
  OPENAI_API_KEY: "openai:gpt-5-mini",
  ANTHROPIC_API_KEY: "anthropic:claude-haiku-4-5",
};

export interface Chosen {
  llm: BaseLlm;
  /** What to tell people of it. */
  about: string;
  /** It is a language model, and no script. */
  isReal: boolean;
}

/** The model that was asked for, else one that there is a key for, else the scripted one. */
export function chooseModel(name: string | undefined, env: Record<string, string | undefined>): Chosen {
  if (name !== undefined) return { llm: model(name), about: name, isReal: !name.startsWith("scripted:") };
  const key = Object.keys(BY_KEY).find((variable) => env[variable]);
  const found = key && BY_KEY[key];
  if (!found) {
    const keys = "GEMINI_API_KEY, OPENAI_API_KEY or ANTHROPIC_API_KEY";
    return scripted(`no key is set. For a real model set ${keys}, or pass --model (ollama:qwen3 needs none)`);
  }
  try {
    return { llm: model(found), about: `${found} (${key} is set)`, isReal: true };
  } catch (error) {
    return scripted(`${found} cannot be used: ${(error as Error).message}`);
  }
}

function scripted(why: string): Chosen {
  // A pace at which one can watch it stream.
  const llm = new ScriptedLlm(assistantScript, { delayMs: 30 });
  return { llm, about: `scripted, because ${why}`, isReal: false };
}
