import { describe, expect, it } from "vitest";
import type { ClientOptions } from "./options.ts";
import { takeAgent } from "./card-target.ts";

const none: ClientOptions = { output: "text" };
const named: ClientOptions = { output: "text", agentCard: "agent.example" };

describe("which word is the agent", () => {
  it("the first, when nothing else names one", () => {
    expect(takeAgent(["localhost:4120", "hi"], none, false)).toEqual({ ref: "localhost:4120", rest: ["hi"] });
  });

  it("none, when --agent-card names it", () => {
    expect(takeAgent(["http://is.text", "hi"], named, true)).toEqual({
      ref: "agent.example",
      rest: ["http://is.text", "hi"],
    });
  });

  it("with one in the environment, the first only when it is a URL", () => {
    expect(takeAgent(["say", "hi"], named, false)).toEqual({ ref: "agent.example", rest: ["say", "hi"] });
    expect(takeAgent(["http://other", "hi"], named, false)).toEqual({ ref: "http://other", rest: ["hi"] });
  });

  it("is asked for when there is none", () => {
    expect(() => takeAgent([], none, false)).toThrow("Name the agent");
  });
});
