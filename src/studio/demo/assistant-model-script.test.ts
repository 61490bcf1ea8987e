import { describe, expect, it } from "vitest";
import type { ScriptFunctionInput, ScriptedReply } from "../../agents/adk/index.ts";
import { assistantModelScript } from "./assistant-model-script.ts";

function runScript(
  text: string,
  results: ScriptFunctionInput["results"] = [],
  contents: object[] = [],
): ScriptedReply {
  if (typeof assistantModelScript !== "function") throw new Error("The script is a function.");
  return assistantModelScript({
    text,
    results,
    requestIndex: 0,
    request: { contents } as ScriptFunctionInput["request"],
  });
}

const createCalculateCall = (expression: string) => ({ call: "calculate", args: { expression } });
const createConvertCall = (value: number, from: string, to: string) => ({
  call: "convert_units",
  args: { value, from, to },
});

describe("the scripted assistant", () => {
  it.each([
    ["What is 25 * 17?", [createCalculateCall("25 * 17")]],
    ["what's 2 plus 2", [createCalculateCall("2 + 2")]],
    ["Compute (3 + 4) times 5, please", [createCalculateCall("(3 + 4) * 5")]],
    ["12.5% of 80", [createCalculateCall("12.5/100*80")]],
    ["sqrt(16) + 1?", [createCalculateCall("sqrt(16) + 1")]],
    ["convert 10 km to miles", [createConvertCall(10, "km", "miles")]],
    ["How much is 100 °C in °F?", [createConvertCall(100, "°C", "°F")]],
    ["What is 2^10 and 5 kg in pounds?", [createCalculateCall("2^10"), createConvertCall(5, "kg", "pounds")]],
    ["Reimburse 40 euros for lunch", [{ call: "reimburse", args: { amount: 40, purpose: "lunch" } }]],
    ["refund 150.50 for a taxi", [{ call: "request_approval", args: { amount: 150.5, purpose: "a taxi" } }]],
  ])("parses %j and calls its tools", (text, calls) => {
    expect(runScript(text)).toEqual(calls);
  });

  it.each(["Hello!", "", "I am 30", "What can you do?"])(
    "explains its abilities in response to %j",
    (text) => {
      expect(runScript(text)).toContain("I can calculate");
    },
  );

  it("turns results and errors into sentences", () => {
    const results = [
      { name: "calculate", response: { expression: "2+2", value: 4 } },
      { name: "convert_units", response: { from: "1 km", to: "1000 m" } },
      { name: "calculate", response: { error: "Division by zero." } },
    ];
    expect(runScript("…", results)).toBe("2+2 = 4. 1 km = 1000 m. Division by zero.");
  });

  it("pays only approved expenses", () => {
    const call = { name: "request_approval", args: { amount: 150, purpose: "a taxi" } };
    const contents = [{ role: "model", parts: [{ functionCall: call }] }];
    const answered = (response: object) =>
      runScript("…", [{ name: "request_approval", response: { ...response } }], contents);
    expect(answered({ status: "pending" })).toContain("needs approval");
    expect(answered({ approved: true })).toEqual([{ call: "reimburse", args: call.args }]);
    expect(answered({ approved: "maybe" })).toContain("nothing is paid");
  });
});
