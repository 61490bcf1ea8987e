import { getLogger, LogLevel } from "@google/adk";
import { MockLanguageModelV4 } from "ai/test";
import { afterEach, describe, expect, it, vi } from "vitest";
import { AiSdkLlm, redirectModelLogs, toRoleModel } from "./index.ts";

afterEach(() => {
  globalThis.AI_SDK_LOG_WARNINGS = undefined;
  vi.restoreAllMocks();
});

describe("redirectModelLogs", () => {
  it("forwards each ADK warning once, and no request logs", () => {
    const logged: string[] = [];
    redirectModelLogs((warning) => logged.push(warning));
    getLogger().info("Sending out request");
    getLogger().warn("no key", "here");
    getLogger().warn("no key", "here");
    getLogger().error(new Error("lost"));
    getLogger().log(LogLevel.DEBUG, "so");
    expect(logged).toEqual(["no key here", "Error: lost"]);
  });

  it("forwards each AI SDK warning once", async () => {
    const logged: string[] = [];
    redirectModelLogs((warning) => logged.push(warning));
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
    const asked = {
      messages: [{ role: "user", text: "1 + 1?" }],
      signal: new AbortController().signal,
    } as const;
    for (let call = 0; call < 3; call++) await toRoleModel(new AiSdkLlm(mock)).complete(asked);
    expect(logged).toEqual([
      "p m: seed is not supported",
      "p m: temperature is not supported, it reasons",
      "p m: as it is",
    ]);
    expect(emitted).not.toHaveBeenCalled();
  });
});
