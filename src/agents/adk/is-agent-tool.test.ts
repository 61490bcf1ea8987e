import { expect, it } from "vitest";
import { isAgentTool } from "./is-agent-tool.ts";

it.each([[undefined], [null], ["tool"], [{}], [{ agent: null }], [{ agent: {} }], [{ agent: { name: 1 } }]])(
  "%j is not an agent tool",
  (tool) => expect(isAgentTool(tool)).toBe(false),
);

it("a tool with a named agent is an agent tool", () => {
  expect(isAgentTool({ agent: { name: "weather" } })).toBe(true);
});
