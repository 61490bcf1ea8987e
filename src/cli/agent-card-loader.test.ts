import { describe, expect, it } from "vitest";
import type { ClientOptions } from "./client-options.ts";
import { parseAgentArgument } from "./agent-card-loader.ts";

const withoutAgentCard: ClientOptions = { output: "text" };
const withAgentCard: ClientOptions = { output: "text", agentCard: "agent.example" };

describe("the agent argument", () => {
  it("is the first argument without --agent-card", () => {
    expect(parseAgentArgument(["localhost:4120", "hi"], withoutAgentCard, false)).toEqual({
      ref: "localhost:4120",
      rest: ["hi"],
    });
  });

  it("is no positional argument with --agent-card", () => {
    expect(parseAgentArgument(["http://is.text", "hi"], withAgentCard, true)).toEqual({
      ref: "agent.example",
      rest: ["http://is.text", "hi"],
    });
  });

  it("is the first argument only if it is a URL, when the environment names an agent", () => {
    expect(parseAgentArgument(["say", "hi"], withAgentCard, false)).toEqual({
      ref: "agent.example",
      rest: ["say", "hi"],
    });
    expect(parseAgentArgument(["http://other", "hi"], withAgentCard, false)).toEqual({
      ref: "http://other",
      rest: ["hi"],
    });
  });

  it("is required", () => {
    expect(() => parseAgentArgument([], withoutAgentCard, false)).toThrow("No agent is named");
  });
});
