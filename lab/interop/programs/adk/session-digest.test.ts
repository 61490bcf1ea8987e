import { describe, expect, it } from "vitest";
import type { SessionReport, SessionReportEvent } from "./session-report.ts";
import { digestSession, listDigestDifferences } from "../../adk/session-digest.ts";

const createReport = (...events: readonly SessionReportEvent[]): SessionReport => ({
  events: [{ author: "user", content: { parts: [{ text: "hi" }] } }, ...events],
  state: {},
  artifacts: {},
});
const createAnswer = (
  ...parts: NonNullable<SessionReportEvent["content"]>["parts"] & object
): SessionReportEvent => ({
  author: "far",
  content: { parts },
});

describe("digestSession", () => {
  it("ignores the division into events, thoughts, and partial events", () => {
    const one = createReport(createAnswer({ text: "one " }, { text: "two" }));
    const split = createReport(
      { ...createAnswer({ text: "one" }), partial: true },
      createAnswer({ text: "one " }),
      createAnswer({ text: "hm", thought: true }, { text: "two" }),
    );
    expect(listDigestDifferences(digestSession(split), digestSession(one))).toEqual([]);
  });

  it("reports lost text, invented calls, and empty parts", () => {
    const wanted = createReport(createAnswer({ text: "one two" }));
    const actual = createReport(
      createAnswer({ text: "two" }, { functionCall: { name: "ask", args: {} } }, { text: "" }),
    );
    expect(listDigestDifferences(digestSession(actual), digestSession(wanted))).toEqual([
      'turn 1: text "two" instead of "one two"',
      'turn 1: calls [{"args":{},"name":"ask"}] instead of []',
      "turn 1: emptyParts 1 instead of 0",
    ]);
  });

  it("reads a placeholder call as its question", () => {
    const name = "mock_function_call_for_required_user_input";
    const call = { functionCall: { name, args: { input_required: "Which color?" } } };
    expect(digestSession(createReport(createAnswer(call))).turns).toMatchObject([
      { text: "Which color?", calls: [], emptyParts: 0 },
    ]);
  });

  it("does not read the message of an error event as an answer", () => {
    const failed = { ...createAnswer({ text: "no credit" }), errorCode: "402" };
    expect(digestSession(createReport(failed)).turns).toMatchObject([{ text: "", isFailed: true }]);
  });
});
