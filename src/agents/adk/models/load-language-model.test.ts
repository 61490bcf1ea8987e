import { MockLanguageModelV4 } from "ai/test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { AiSdkLlm, loadLanguageModel, redirectModelWarnings } from "./index.ts";

afterEach(() => {
  globalThis.AI_SDK_LOG_WARNINGS = undefined;
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

describe("loadLanguageModel", () => {
  it("loads a model with the key of its provider", async () => {
    vi.stubEnv("OPENAI_API_KEY", "k");
    expect(await loadLanguageModel("openai:gpt-5")()).toMatchObject({ modelId: "gpt-5" });
    vi.stubEnv("OPENAI_API_KEY", "");
    expect(() => loadLanguageModel("openai:gpt-5")).toThrow(/Set OPENAI_API_KEY/);
  });

  it("loads Gemini from the provider package of the AI SDK", () => {
    vi.stubEnv("GEMINI_API_KEY", "k");
    expect(() => loadLanguageModel("gemini:gemini-2.5-flash")).toThrow("npm install ai @ai-sdk/google");
  });
});

describe("redirectModelWarnings", () => {
  it("forwards each AI SDK warning once", async () => {
    const logged: string[] = [];
    redirectModelWarnings((warning) => logged.push(warning));
    const emitted = vi.spyOn(process, "emitWarning");
    const mock = new MockLanguageModelV4({
      provider: "p",
      modelId: "m",
      doGenerate: {
        content: [{ type: "text", text: "2" }],
        finishReason: { unified: "stop", raw: "stop" },
        usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } } as never,
        warnings: [
          { type: "unsupported", feature: "seed" },
          { type: "unsupported", feature: "temperature", details: "it reasons" },
          { type: "other", message: "as it is" },
        ],
      },
    });
    const request = {
      contents: [{ role: "user", parts: [{ text: "1 + 1?" }] }],
      liveConnectConfig: {},
      toolsDict: {},
    };
    for (let call = 0; call < 3; call++) await new AiSdkLlm(mock).generateContentAsync(request).next();
    expect(logged).toEqual([
      "p m: seed is not supported",
      "p m: temperature is not supported, it reasons",
      "p m: as it is",
    ]);
    expect(emitted).not.toHaveBeenCalled();
  });
});
