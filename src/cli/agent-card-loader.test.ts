import { describe, expect, it } from "vitest";
import type { ClientOptions } from "./client-options.ts";
import { parseAgentArgument } from "./agent-card-loader.ts";

const withoutAgentCard: ClientOptions = { output: "text" };
const withAgentCard: ClientOptions = { output: "text", agentCard: "agent.example" };

describe("which word is the agent", () => {
  it("the first, when nothing else names one", () => {
    expect(parseAgentArgument(["localhost:4120", "hi"], withoutAgentCard, false)).toEqual({
      ref: "localhost:4120",
      rest: ["hi"],
    });
  });

  it("none, when --agent-card names it", () => {
    expect(parseAgentArgument(["http://is.text", "hi"], withAgentCard, true)).toEqual({
      ref: "agent.example",
      rest: ["http://is.text", "hi"],
    });
  });

  it("with one in the environment, the first only when it is a URL", () => {
    expect(parseAgentArgument(["say", "hi"], withAgentCard, false)).toEqual({
      ref: "agent.example",
      rest: ["say", "hi"],
    });
    expect(parseAgentArgument(["http://other", "hi"], withAgentCard, false)).toEqual({
      ref: "http://other",
      rest: ["hi"],
    });
  });

  it("is asked for when there is none", () => {
    expect(() => parseAgentArgument([], withoutAgentCard, false)).toThrow("Name the agent");
  });
});
