import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { A2AError, type FieldViolation } from "../../protocol/index.ts";
import { arbitraryCard } from "./message-card.fixture.ts";
import { fromJson, parseCard, toDict, toJson } from "./index.ts";

const CARD = {
  sender: "planner",
  recipient: "solver",
  message_type: "task",
  content: "문제를 풀어주세요",
  metadata: { dataset: "gsm8k" },
  timestamp: "2025-01-15T10:30:00",
};

function collectViolations(read: () => unknown): readonly FieldViolation[] {
  try {
    read();
  } catch (error) {
    expect(error).toBeInstanceOf(A2AError);
    return (error as A2AError).violations;
  }
  return [];
}

const collectViolationFields = (read: () => unknown): string[] =>
  collectViolations(read).map(({ field }) => field);

describe("a card", () => {
  it("survives a round trip through JSON", () => {
    fc.assert(
      fc.property(arbitraryCard, (card) => {
        expect(fromJson(toJson(card))).toEqual(JSON.parse(JSON.stringify(card)));
      }),
    );
  });

  it("is serialized with exactly its six members in order", () => {
    const { timestamp, ...rest } = CARD;
    const card = { extra: 1, timestamp, ...rest };
    expect(Object.keys(toDict(card))).toEqual(Object.keys(CARD));
    expect(toJson(card)).toBe(JSON.stringify(CARD));
    expect(toJson(card, 2)).toBe(JSON.stringify(CARD, undefined, 2));
  });

  it.each([null, undefined])("has empty metadata if the input has %s metadata", (metadata) => {
    expect(parseCard({ ...CARD, metadata })).toEqual({ ...CARD, metadata: {} });
  });

  it("may have unknown types and roles", () => {
    const card = { ...CARD, sender: "solver_agent", message_type: "haiku" };
    expect(parseCard(card)).toEqual(card);
  });

  it("may have the ID of a problem in any script, without spaces and control characters", () => {
    for (const sample_id of ["gsm8k_0", "문제_1", "प्रश्न", "q:ä"])
      expect(parseCard({ ...CARD, metadata: { sample_id } }).metadata.sample_id).toBe(sample_id);
    for (const sample_id of ["", "a b", "a\u202eb", "a\nb", "あ".repeat(129)])
      expect(collectViolationFields(() => parseCard({ ...CARD, metadata: { sample_id } }))).toEqual([
        "metadata.sample_id",
      ]);
  });

  it("keeps unknown members of its metadata", () => {
    const metadata = { mood: ["good", null, { really: true }] };
    expect(parseCard({ ...CARD, metadata }).metadata).toEqual(metadata);
  });
});

describe("an invalid card", () => {
  it("is reported with the name of every additional member", () => {
    const found = collectViolations(() => parseCard({ ...CARD, run_id: "r", priority: 1 }));
    expect(found).toEqual([
      { field: "run_id", description: expect.stringContaining("move it to metadata") },
      { field: "priority", description: expect.stringContaining("move it to metadata") },
    ]);
  });

  it("is reported with all violations and their paths", () => {
    const card = {
      sender: "the planner",
      message_type: 1,
      content: "half \ud83d",
      metadata: { turn: 0, usage: { input_tokens: -1, source: "guessed" }, list: [1, Number.NaN] },
      timestamp: "yesterday",
    };
    expect(collectViolationFields(() => parseCard(card)).toSorted()).toEqual([
      "content",
      "message_type",
      "metadata.list[1]",
      "recipient",
      "sender",
      "timestamp",
    ]);
    const metadata = { turn: 0, usage: { input_tokens: -1, source: "guessed" } };
    expect(collectViolationFields(() => parseCard({ ...CARD, metadata }))).toEqual([
      "metadata.turn",
      "metadata.usage.input_tokens",
      "metadata.usage.output_tokens",
      "metadata.usage.source",
    ]);
  });

  it.each([null, undefined, [], "card", 1, new Date(0), () => 0])("is %s", (value) => {
    expect(collectViolationFields(() => parseCard(value))).toEqual(["card"]);
  });

  it.each([
    ["no JSON", "{", "card"],
    [
      "a prototype in disguise",
      toJson({ ...CARD, metadata: JSON.parse(`{"a":{"__proto__":1}}`) }),
      "metadata.a.__proto__",
    ],
    ["a prototype as a member", `{"__proto__":{},${JSON.stringify(CARD).slice(1)}`, "__proto__"],
  ])("is a text with %s", (_, text, field) => {
    expect(collectViolationFields(() => fromJson(text))).toEqual([field]);
  });

  it("is one that is too long in bytes or nested too deeply", () => {
    const most = 256 * 1024;
    expect(collectViolationFields(() => parseCard({ ...CARD, content: "a".repeat(most) }))).toEqual([]);
    expect(collectViolationFields(() => parseCard({ ...CARD, content: "a".repeat(most + 1) }))).toEqual([
      "content",
    ]);
    expect(collectViolationFields(() => parseCard({ ...CARD, content: "가".repeat(most / 3 + 1) }))).toEqual([
      "content",
    ]);

    const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) });
    expect(collectViolationFields(() => parseCard({ ...CARD, metadata: deep(32) }))).toEqual([]);
    expect(collectViolationFields(() => parseCard({ ...CARD, metadata: deep(33) }))).toEqual([
      `metadata${".a".repeat(32)}`,
    ]);
  });

  it("may be a circular object, at which validation stops", () => {
    const circle: Record<string, unknown> = {};
    circle["a"] = circle;
    circle["b"] = circle;
    expect(collectViolationFields(() => parseCard({ ...CARD, metadata: circle }))).toHaveLength(100);
  });

  it("never causes another error", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true }), arbitraryCard, fc.nat(5), (value, card, at) => {
        const member = Object.keys(CARD)[at] ?? "";
        expect(collectViolations(() => parseCard(value))).toBeInstanceOf(Array);
        collectViolations(() => parseCard({ ...card, [member]: value }));
      }),
    );
  });
});
