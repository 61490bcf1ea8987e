import { describe, expect, it } from "vitest";
import type { ClientOptions } from "./client-options.ts";
import { splitAgentRefFromArguments } from "./agent-card-loader.ts";

const withoutAgentCard: ClientOptions = { output: "text" };
const withAgentCard: ClientOptions = { output: "text", agentCard: "agent.example" };

describe("the agent argument", () => {
  it("is the first argument without --agent-card", () => {
    expect(splitAgentRefFromArguments(["localhost:4120", "hi"], withoutAgentCard, false)).toEqual({
      ref: "localhost:4120",
      rest: ["hi"],
    });
  });

  it("is no positional argument with --agent-card", () => {
    expect(splitAgentRefFromArguments(["http://is.text", "hi"], withAgentCard, true)).toEqual({
      ref: "agent.example",
      rest: ["http://is.text", "hi"],
    });
  });

  it("is the first argument only if it is a URL, when the environment names an agent", () => {
    expect(splitAgentRefFromArguments(["say", "hi"], withAgentCard, false)).toEqual({
      ref: "agent.example",
      rest: ["say", "hi"],
    });
    expect(splitAgentRefFromArguments(["http://other", "hi"], withAgentCard, false)).toEqual({
      ref: "http://other",
      rest: ["hi"],
    });
  });

  it("is required", () => {
    expect(() => splitAgentRefFromArguments([], withoutAgentCard, false)).toThrow("No agent is named");
  });
});
