import { afterEach, describe, expect, it, vi } from "vitest";
import { chooseModel } from "./choose-model.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("the model of the demo", () => {
  it("is scripted without a key, and names the key variables", () => {
    const { llm, description } = chooseModel(undefined, {});
    expect(llm.model).toBe("scripted");
    expect(description).toMatch(/no key is set.*GEMINI_API_KEY, OPENAI_API_KEY, or ANTHROPIC_API_KEY/);
  });

  it.each([
    ["GEMINI_API_KEY", "gemini-2.5-flash"],
    ["OPENAI_API_KEY", "openai:gpt-5-mini"],
    ["ANTHROPIC_API_KEY", "anthropic:claude-haiku-4-5"],
  ])("is the provider's when %s is set", (key, model) => {
    vi.stubEnv(key, "k");
    const { llm, description } = chooseModel(undefined, { [key]: "k" });
    expect(llm.model).toBe(model);
    expect(description).toContain(`${key} is set`);
  });

  it("is the requested model, or an error", () => {
    expect(chooseModel("ollama:qwen3", {}).llm.model).toBe("ollama:qwen3");
    expect(() => chooseModel("nonsense", {})).toThrow("is not a model name");
  });
});
