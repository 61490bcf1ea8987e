import { describe, expect, it } from "vitest";
import { findChunkProblems, formatChunk, parseChunks, type AgentChunk } from "./chunk-text.ts";

/** Creates chunks from texts like `1:0`, which are the attempt and the number. */
const createChunks = (...texts: string[]): AgentChunk[] =>
  parseChunks(texts.map((text) => `${text}:0.5 `).join(""));

describe("chunks", () => {
  it("are found in a text with padding", () => {
    const chunk = { attempt: 2, number: 17, emittedAt: 12_345.678 };
    expect(parseChunks(`${formatChunk(chunk)}xxxx${formatChunk(chunk)}`)).toEqual([chunk, chunk]);
  });

  it.each([
    ["fail", ["1:0", "1:1", "1:2"]],
    ["restart", ["1:0", "1:1", "2:0", "2:1"]],
    ["resume", ["1:0", "1:1", "2:2", "4:3"]],
  ])("of a task with %s are accepted", (policy, texts) => {
    expect(findChunkProblems(createChunks(...texts), policy)).toEqual([]);
  });

  it.each([
    ["lost", "fail", ["1:0", "1:2"]],
    ["repeated", "fail", ["1:0", "1:0"]],
    ["lost at the start", "fail", ["1:1"]],
    ["written late by an old attempt", "restart", ["1:0", "2:0", "1:1"]],
    ["repeated by a resumed attempt", "resume", ["1:0", "1:1", "2:0"]],
    ["lost by a resumed attempt", "resume", ["1:0", "2:2"]],
  ])("that are %s are reported", (_, policy, texts) => {
    expect(findChunkProblems(createChunks(...texts), policy).length).toBeGreaterThan(0);
  });
});
