import { describe, expect, it } from "vitest";
import * as fc from "fast-check";
import type { JsonValue } from "../../../protocol/index.ts";
import { listModelMessages, listOfferedTools } from "./model-messages.ts";

const nest = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
const text = (value: string): { kind: "text"; text: string } => ({ kind: "text", text: value });

describe("the messages of a model call", () => {
  it.each<[string, JsonValue, ReturnType<typeof listModelMessages>]>([
    [
      "ADK",
      {
        instruction: "Be brief.",
        contents: [
          { role: "user", parts: [{ text: "Weather in Seoul?" }] },
          { role: "model", parts: [{ functionCall: { name: "look_up", args: { city: "Seoul" } } }] },
          { role: "user", parts: [{ functionResponse: { name: "look_up", response: { sky: "clear" } } }] },
        ],
      },
      [
        { role: "system", parts: [text("Be brief.")] },
        { role: "user", parts: [text("Weather in Seoul?")] },
        { role: "assistant", parts: [{ kind: "call", tool: "look_up", value: { city: "Seoul" } }] },
        { role: "user", parts: [{ kind: "result", tool: "look_up", value: { sky: "clear" } }] },
      ],
    ],
    [
      "the AI SDK",
      [
        { role: "system", content: "Be brief." },
        { role: "user", content: [{ type: "text", text: "Hi" }] },
        { role: "assistant", content: [{ tool: "add", input: { a: 1 } }] },
        { role: "tool", tool: "add", result: 3 },
      ],
      [
        { role: "system", parts: [text("Be brief.")] },
        { role: "user", parts: [text("Hi")] },
        { role: "assistant", parts: [{ kind: "call", tool: "add", value: { a: 1 } }] },
        { role: "tool", parts: [{ kind: "result", tool: "add", value: 3 }] },
      ],
    ],
    [
      "LangChain",
      [
        { role: "human", content: "Hi" },
        { role: "ai", content: "", tool_calls: [{ name: "add", args: { a: 1 }, id: "c1" }] },
        { role: "tool", content: "3", tool_call_id: "c1", name: "add" },
      ],
      [
        { role: "user", parts: [text("Hi")] },
        { role: "assistant", parts: [{ kind: "call", tool: "add", value: { a: 1 } }] },
        { role: "tool", parts: [{ kind: "result", tool: "add", value: "3" }] },
      ],
    ],
    [
      "OpenAI Agents",
      {
        instructions: "Be brief.",
        input: [
          { role: "user", content: "Hi" },
          { type: "function_call", callId: "c1", name: "add", arguments: '{"a":1}' },
          { type: "function_call_result", callId: "c1", name: "add", output: { type: "text", text: "3" } },
        ],
      },
      [
        { role: "system", parts: [text("Be brief.")] },
        { role: "user", parts: [text("Hi")] },
        { role: "assistant", parts: [{ kind: "call", tool: "add", value: { a: 1 } }] },
        { role: "tool", parts: [{ kind: "result", tool: "add", value: { type: "text", text: "3" } }] },
      ],
    ],
    [
      "OpenAI",
      {
        model: "m",
        messages: [
          {
            role: "assistant",
            content: null,
            tool_calls: [{ id: "c1", type: "function", function: { name: "add", arguments: '{"a":1}' } }],
          },
        ],
      },
      [{ role: "assistant", parts: [{ kind: "call", tool: "add", value: { a: 1 } }] }],
    ],
    [
      "card roles",
      { messages: [{ role: "user", text: "Solve" }], temperature: 0 },
      [{ role: "user", parts: [text("Solve")] }],
    ],
    ["a model without a chat", ["Once upon"], [{ role: "user", parts: [text("Once upon")] }]],
  ])("are read from a prompt of %s", (_, prompt, expected) => {
    expect(listModelMessages(prompt, "user")).toEqual(expected);
  });

  it.each<[string, JsonValue]>([
    ["ADK", { role: "model", parts: [{ text: "3" }] }],
    ["the AI SDK", [{ text: "3" }]],
    ["Mastra", { text: "3" }],
    ["LangChain", { role: "ai", content: "3" }],
    [
      "OpenAI Agents",
      [{ type: "message", role: "assistant", content: [{ type: "output_text", text: "3" }] }],
    ],
    ["card roles", "3"],
  ])("are read from a reply of %s", (_, reply) => {
    expect(listModelMessages(reply, "assistant")).toEqual([{ role: "assistant", parts: [text("3")] }]);
  });

  it("contain all texts, also of an unknown form, and never fail [E26]", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(listModelMessages(value as JsonValue, "user"));
        expect(json).toBeDefined();
      }),
    );
    expect(listModelMessages({ odd: ["shape"] }, "user")).toEqual([
      { role: "user", parts: [{ kind: "json", value: { odd: ["shape"] } }] },
    ]);
    expect(listModelMessages(undefined, "user")).toEqual([]);
  });

  it("are read from records of strangers: names of built-in members, objects as names, deep nesting [E26]", () => {
    for (const role of ["constructor", "__proto__", "toString"])
      expect(listModelMessages([{ role, content: "Hi" }], "user")).toEqual([{ role, parts: [text("Hi")] }]);
    const name = { toString: 1, valueOf: 1 };
    expect(listModelMessages([{ functionCall: { name } }], "user")).toMatchObject([
      { parts: [{ kind: "call", tool: "", value: {} }] },
    ]);
    expect(
      listModelMessages([{ role: "tool", tool_call_id: JSON.parse(nest(20_000)), content: "3" }], "user"),
    ).toEqual([{ role: "tool", parts: [{ kind: "result", tool: "", value: "3" }] }]);
    const deep = JSON.parse(
      `${'[{"role":"user"},{"input":'.repeat(20_000)}[]${"}]".repeat(20_000)}`,
    ) as JsonValue;
    expect(listModelMessages(deep, "user").length).toBeGreaterThan(1);
  });
});

it.each<[string, JsonValue, JsonValue]>([
  [
    "ADK",
    [{ functionDeclarations: [{ name: "add", description: "Adds", parameters: { a: 1 } }] }],
    { parameters: { a: 1 } },
  ],
  [
    "OpenAI",
    [{ type: "function", function: { name: "add", description: "Adds", strict: true } }],
    { strict: true },
  ],
  ["Anthropic", [{ name: "add", description: "Adds", input_schema: {} }], { input_schema: {} }],
  ["a record without schemas", [{ name: "add", description: "Adds" }, null, "x"], {}],
])("the tools that a model could call are read from the prompt of %s", (_, tools, details) => {
  expect(listOfferedTools({ messages: [], tools })).toEqual([{ name: "add", description: "Adds", details }]);
});

it("prompts without a list of tools offer none, however they look", () => {
  for (const prompt of [
    undefined,
    null,
    "x",
    [],
    { tools: {} },
    JSON.parse(`{"tools":${nest(20_000)}}`),
  ] as JsonValue[])
    expect(listOfferedTools(prompt)).toEqual([]);
});
