import { anything, assert, jsonValue, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { decodeTrafficLine, decodeTrafficLineJson, encodeTrafficLine, type TrafficLine } from "./index.ts";

const BASE = { v: 1, writer: "w", seq: 1, at: "2026-11-23T10:30:00.000Z", mono_ms: 1 } as const;

describe("the decoder of traffic lines", () => {
  it("decodes what the encoder writes, and keeps unknown members", () => {
    const line = { ...BASE, kind: "event", task_id: "t", log_seq: 1, later: [1] } as TrafficLine;
    expect(decodeTrafficLine(encodeTrafficLine(line, { event: '{"a":1}' }))).toEqual({
      type: "traffic",
      line: { ...line, event: { a: 1 } },
    });
  });

  it.each([
    ["a line of an earlier record of cards", { v: 1, kind: "card", run_id: "r", at: BASE.at }],
    ["an unknown kind", { ...BASE, kind: "constructor" }],
    ["a later version", { ...BASE, v: 2, kind: "turn" }],
  ])("keeps %s as another line", (_, json) => {
    expect(decodeTrafficLineJson(json)).toEqual({ type: "other", json });
  });

  it.each([
    ["a missing member", { ...BASE, kind: "turn", phase: "begin" }, "turn line: task_id is not a string"],
    [
      "a wrong type",
      { ...BASE, kind: "turn", task_id: 1, phase: "begin" },
      "turn line: task_id is not a string",
    ],
    [
      "an invalid optional member",
      { ...BASE, kind: "event", task_id: "t", log_seq: 1, event: 3 },
      "event line: event is not an object",
    ],
    [
      "an invalid time",
      { ...BASE, at: "soon", kind: "loss", lines: 1, reason: "" },
      "loss line: at is not a time such as 2026-11-23T10:30:00.000Z",
    ],
    ["a list", [], "the line is not a JSON object"],
  ])("rejects %s with a reason", (_, json, reason) => {
    expect(decodeTrafficLineJson(json)).toEqual({ type: "unreadable", reason });
  });

  it("never throws", () => {
    assert(property(anything(), (value) => void decodeTrafficLineJson(value)));
    assert(property(jsonValue(), (value) => void decodeTrafficLine(JSON.stringify(value).slice(0, -1))));
  });
});
