import { expect, it } from "vitest";
import { adkAgent } from "./adk-agent.ts";
import type { AdkRunner } from "./adk-structural-types.ts";
import { TaskHarness } from "./task-harness.fixture.ts";

it("an ADK run ends when its consumer stops reading events", async () => {
  let hasEnded = false;
  const runner: AdkRunner = {
    appName: "app",
    agent: { name: "app" },
    sessionService: { getSession: async () => ({}), createSession: async () => ({}) },
    async *runAsync() {
      try {
        for (const text of ["one", "two"])
          yield { author: "app", content: { role: "model", parts: [{ text }] } };
      } finally {
        hasEnded = true;
      }
    },
  };
  const stopReading = (event: object): void => {
    if ("artifact" in event) throw new Error("stopped");
  };
  const sending = new TaskHarness(adkAgent(runner)).send("hi", { onEvent: stopReading });
  await expect(sending).rejects.toThrow("stopped");
  expect(hasEnded).toBe(true);
});
