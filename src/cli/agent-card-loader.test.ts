import { describe, expect, it } from "vitest";
import { A2AError } from "../protocol/index.ts";
import type { ClientOptions } from "./client-options.ts";
import { createConnectOptions, splitAgentRefFromArguments, toCardError } from "./agent-card-loader.ts";

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

describe("the deadlines of a command", () => {
  const context = {
    interruptSignal: new AbortController().signal,
  } as Parameters<typeof createConnectOptions>[2];

  it("end no call that waits for an agent's turn, because --timeout is never by default", async () => {
    expect((await createConnectOptions("http://a", withoutAgentCard, context)).timeouts).toEqual({
      sendMs: Infinity,
    });
  });

  it("end no call before --timeout", async () => {
    const options = { ...withoutAgentCard, timeout: 3_600_000 };
    expect((await createConnectOptions("http://a", options, context)).timeouts).toEqual({
      connectMs: Infinity,
      sendMs: Infinity,
      callMs: Infinity,
    });
  });
});

it("the error for a file in a folder that could be a host tells how to name the file", () => {
  const file = "test/vectors/agent-card.json";
  const error = A2AError.invalidParams([{ field: "url", description: "is not an HTTP URL" }]);
  expect(toCardError(error, file, file)).toMatchObject({ hint: `To read the file, pass ./${file}.` });
});
