import { expect, it, vi } from "vitest";
import { adkAgent } from "./adk-agent.ts";
import type { AdkEvent, AdkRunner } from "./adk-structural-types.ts";
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

/** Creates a runner that yields partial events and their complete event, and waits after the first event. */
function createStreamingRunner(texts: readonly string[], wait: () => Promise<unknown>): AdkRunner {
  return {
    appName: "app",
    agent: { name: "app" },
    sessionService: { getSession: async () => ({}), createSession: async () => ({}) },
    async *runAsync() {
      const createEvent = (text: string, partial: boolean): AdkEvent => ({
        author: "app",
        partial,
        content: { role: "model", parts: [{ text }] },
      });
      for (const [index, text] of texts.entries()) {
        yield createEvent(text, true);
        if (index === 0) await wait();
      }
      yield createEvent(texts.join(""), false);
    },
  };
}

it("the first partial event of an answer is emitted at once, without waiting for the second event", async () => {
  // The timer that emits the text of idle runs never fires.
  vi.useFakeTimers({ toFake: ["setInterval"] });
  const emitted = Promise.withResolvers<void>();
  try {
    const harness = new TaskHarness(
      adkAgent(createStreamingRunner(["Let me ", "see."], () => emitted.promise)),
    );
    const { chunkParts } = await harness.send("hi", {
      onEvent: (event) => "artifact" in event && emitted.resolve(),
    });
    expect(chunkParts.map((part) => ("text" in part ? part.text : part))).toEqual(["Let me ", "see."]);
  } finally {
    vi.useRealTimers();
  }
});

it("an answer of one partial event, which its complete event follows immediately, is one artifact event", async () => {
  const harness = new TaskHarness(adkAgent(createStreamingRunner(["Let me see."], async () => {})));
  const { events } = await harness.send("hi");
  expect(events.filter((event) => "artifact" in event)).toMatchObject([
    { artifact: { parts: [{ text: "Let me see." }] }, lastChunk: true },
  ]);
});
