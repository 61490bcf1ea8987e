import type { LlmRequest, LlmResponse } from "@google/adk";
import { describe, expect, it } from "vitest";
import { type Script, ScriptedLlm } from "./scripted-llm.ts";

const question: LlmRequest = {
  contents: [{ role: "user", parts: [{ text: "a b c" }] }],
  liveConnectConfig: {},
  toolsDict: {},
};

async function collectResponses(script: Script, stream: boolean, request = question): Promise<LlmResponse[]> {
  const responses: LlmResponse[] = [];
  for await (const response of new ScriptedLlm(script).generateContentAsync(request, stream))
    responses.push(response);
  return responses;
}

const listTexts = (responses: LlmResponse[]): (string | undefined)[][] =>
  responses.map(({ content }) => content?.parts?.map(({ text }) => text) ?? []);

describe("a scripted model", () => {
  it("streams text word by word, then the complete response", async () => {
    const responses = await collectResponses(["  Good morning,\nworld! "], true);
    expect(listTexts(responses)).toEqual([
      ["  Good"],
      [" morning,"],
      ["\nworld!"],
      [" "],
      ["  Good morning,\nworld! "],
    ]);
    expect(responses.map(({ partial }) => partial)).toEqual([true, true, true, true, undefined]);
  });

  it("returns one response without streaming, and invents no tokens", async () => {
    const responses = await collectResponses([{ text: ["x", "y"] }], false);
    expect(listTexts(responses)).toEqual([["xy"]]);
    expect(responses[0]).not.toHaveProperty("usageMetadata");
  });

  it("combines thoughts, text, and tool calls in one answer", async () => {
    const [response] = await collectResponses(
      [[{ text: "hm", thought: true }, "I add.", { call: "add", args: { a: 1 }, id: "c" }]],
      false,
    );
    expect(response?.content?.parts).toEqual([
      { text: "hm", thought: true },
      { text: "I add." },
      { functionCall: { name: "add", args: { a: 1 }, id: "c" } },
    ]);
  });

  it("returns the errors of its script", async () => {
    expect(await collectResponses([["half", { error: "boom", code: "500" }]], true)).toEqual([
      { content: { role: "model", parts: [{ text: "half" }] }, partial: true },
      { errorCode: "500", errorMessage: "boom" },
    ]);
  });

  it("repeats its last reply", async () => {
    const llm = new ScriptedLlm(["one", "two"]);
    const responses: (string | undefined)[] = [];
    for (let turn = 0; turn < 3; turn++) {
      for await (const { content } of llm.generateContentAsync(question))
        responses.push(content?.parts?.[0]?.text);
    }
    expect(responses).toEqual(["one", "two", "two"]);
  });

  it("passes the last question and the latest results to its script", async () => {
    const result = { name: "add", response: { sum: 3 } };
    const contents = [
      ...question.contents,
      { role: "model", parts: [{ functionCall: { name: "add", args: {} } }] },
      { role: "user", parts: [{ functionResponse: result }] },
    ];
    let scriptInput: unknown;
    await collectResponses(
      ({ text, results, requestIndex: turn }) => {
        scriptInput = { text, results, turn };
        return "ok";
      },
      false,
      { ...question, contents },
    );
    expect(scriptInput).toEqual({ text: "a b c", results: [result], turn: 0 });
  });

  it("stops immediately when it is aborted, even during a delay", async () => {
    const abort = new AbortController();
    const llm = new ScriptedLlm(["one two"], { delayMs: 60_000 });
    const saying = llm.generateContentAsync(question, true, abort.signal).next();
    abort.abort();
    expect(await saying).toEqual({ done: true, value: undefined });
  });
});
