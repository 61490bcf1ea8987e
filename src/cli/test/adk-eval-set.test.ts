import { readFileSync } from "node:fs";
import { FunctionTool, LlmAgent } from "@google/adk";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { adkAgent } from "../../agents/adk/index.ts";
import { type ScriptFunctionInput, ScriptedLlm, type ScriptedReply } from "../../agents/adk/models/index.ts";
import { agent } from "../../agents/adapters/index.ts";
import { converse } from "../../studio/testing/index.ts";
import { decodeAdkEvalSet, decodeEvalCriteria, runAdkEvalCase } from "./adk-eval-set.ts";

const VECTORS = new URL("../../../test/vectors/adk-eval/", import.meta.url);

function readVector(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, VECTORS), "utf8"));
}

const SCRIPT = readVector("script.json") as Record<
  string,
  { calls: { name: string; args: Record<string, unknown> }[]; text: string }
>;
const { runs } = readVector("verdicts.json") as {
  runs: { criteria: object; verdicts: Record<string, Record<string, number | boolean>> }[];
};

const answer = ({ text, results }: ScriptFunctionInput): ScriptedReply => {
  const { calls = [], text: said = "" } = SCRIPT[text] ?? {};
  return calls.length === 0 || results.length > 0
    ? said
    : calls.map(({ name, args }) => ({ call: name, args }));
};

/** The same agent as that of `record-verdicts.py`. */
function createWeatherAgent(): LlmAgent {
  const tool = (name: string, parameters: z.ZodObject): FunctionTool =>
    new FunctionTool({ name, description: name, parameters, execute: () => ({ ok: true }) });
  return new LlmAgent({
    name: "weather",
    model: new ScriptedLlm(answer),
    tools: [
      tool("get_weather", z.object({ city: z.string() })),
      tool("find_order", z.object({ id: z.number() })),
      tool("refund", z.object({ id: z.number(), euros: z.number() })),
    ],
  });
}

const { signal } = new AbortController();

describe("an eval set of ADK", () => {
  const cases = decodeAdkEvalSet(readVector("weather.evalset.json"));

  it.each(runs.map(({ criteria, verdicts }) => ({ name: JSON.stringify(criteria), criteria, verdicts })))(
    "has the verdicts of `adk eval` with $name",
    async ({ criteria, verdicts }) => {
      const decoded = decodeEvalCriteria({ criteria });
      for (const test of cases) {
        const open = (): ReturnType<typeof converse> => converse(adkAgent(createWeatherAgent()));
        const { failures, scores } = await runAdkEvalCase(test, decoded, open, signal);
        const { passed, ...expected } = verdicts[test.id] ?? {};
        expect({ id: test.id, passed: failures.length === 0, ...scores }).toEqual({
          id: test.id,
          passed,
          ...Object.fromEntries(
            Object.entries(expected).map(([metric, score]) => [metric, expect.closeTo(Number(score), 9)]),
          ),
        });
      }
    },
  );

  it("is also read in the older form, with the criteria of `adk eval` by default", async () => {
    const older = decodeAdkEvalSet([
      {
        name: "dice",
        data: [
          {
            query: "Refund order 7",
            expected_tool_use: [{ tool_name: "find_order", tool_input: { id: 7 } }],
            reference: "no",
          },
        ],
        initial_session: { state: { tier: "gold" }, app_name: "a", user_id: "u" },
      },
    ]);
    expect(older[0]?.state).toEqual({ tier: "gold" });
    const open = (): ReturnType<typeof converse> => converse(adkAgent(createWeatherAgent()));
    const { failures } = await runAdkEvalCase(older[0] as never, decodeEvalCriteria(undefined), open, signal);
    expect(failures).toEqual([
      "tool_trajectory_avg_score is 0.000, expected 1 (by turn: 0.000)",
      "response_match_score is 0.000, expected 0.8 (by turn: 0.000)",
    ]);
  });

  it("sets the session state that the agent accepts", async () => {
    const instruction = "You serve {tier} customers.";
    let prompt: unknown;
    const model = new ScriptedLlm(({ request }) => {
      prompt = request.config?.systemInstruction;
      return "Hello!";
    });
    const root = new LlmAgent({ name: "greeter", model, instruction });
    const test = { id: "state", state: { tier: "gold" }, invocations: cases[0]?.invocations.slice(1) ?? [] };
    const open = (): ReturnType<typeof converse> => converse(adkAgent(root, { receiveState: ["tier"] }));
    await runAdkEvalCase(test, {}, open, signal);
    expect(JSON.stringify(prompt)).toContain("You serve gold customers.");
  });

  it("fails a case whose agent throws, with its state in the transcript", async () => {
    const failing = agent({ name: "failing", description: "Fails" }, async function* ({ text }) {
      if (text !== "") throw new Error("no model");
      yield text;
    });
    const result = await runAdkEvalCase(
      cases[0] as never,
      decodeEvalCriteria(undefined),
      () => converse(failing),
      signal,
    );
    expect(result.failures).not.toEqual([]);
    expect(result.transcript).toContain("[failed]");
  });

  it.each([
    [{}, "The eval set has no list eval_cases."],
    [{ eval_cases: [{ eval_id: "a", conversation_scenario: {} }] }, "The eval case a has no conversation."],
    [
      { eval_cases: [{ eval_id: "a", conversation: [{}] }] },
      "The user content of a, invocation 1 has no parts.",
    ],
    [[{ name: "a" }], "The eval case a has no list data."],
    [[{ name: "a", data: [{}] }], "{} has no text query."],
  ])("that is %j is refused", (value, message) => {
    expect(() => decodeAdkEvalSet(value)).toThrow(message);
  });

  it.each([
    [{}, "The test configuration has no object criteria."],
    [{ criteria: { safety_v1: 0.5 } }, "The criterion safety_v1 is not supported"],
    [{ criteria: { response_match_score: {} } }, "response_match_score has no threshold"],
    [
      { criteria: { tool_trajectory_avg_score: { threshold: 1, match_type: "SOME" } } },
      'match_type is "SOME"; write EXACT',
    ],
  ])("has no criteria %j", (config, message) => {
    expect(() => decodeEvalCriteria(config)).toThrow(message);
  });
});
