import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { momentsOf, type Recording, type RecordLine, samplesOf } from "../record/index.ts";
import { decodeRecording } from "../record/index.ts";
import { JANET, recorded, recordedText, SCRIPTS } from "../record/record.fixture.ts";
import { overviewOf } from "./overview.ts";
import { pageDataOf } from "./page-data.ts";
import { RunModel } from "./run-model.ts";

/** What a page shows of each problem. */
function shownBy(model: RunModel): object[] {
  return model.samples.map(({ id, cards, calls, score }) => ({
    id,
    cards: cards.map(({ card, sent, arrived }) => ({ card, sent, arrived })),
    calls,
    score,
  }));
}

/** The same, by the reader of whole files. */
function saidBy(recording: Recording): object[] {
  return samplesOf(recording).map(({ id, lines, calls, score }) => ({
    id: id ?? "",
    cards: momentsOf(lines).map(({ card, sent, arrived }) => ({ card, sent, arrived })),
    calls,
    score,
  }));
}

function lineByLine(text: string): RunModel {
  const model = new RunModel();
  for (const line of text.split("\n").filter(Boolean)) model.add(JSON.parse(line) as RecordLine);
  return model;
}

/** A run that was killed in its second problem and resumed by a process whose clock begins anew. */
function resumed(): string {
  const whole = recordedText();
  const lines = whole.split("\n").filter(Boolean);
  const scored = lines.findIndex((line) => line.includes('"kind":"score"'));
  const later = lines
    .filter((line, at) => at === 0 || !line.includes(JANET.id))
    .map((line) => line.replace(/"at":"2026-11-21T10:/, '"at":"2026-11-21T11:'));
  return [...lines.slice(0, scored + 4), ...later, ""].join("\n");
}

function sampleIn(line: RecordLine): string {
  return "sample_id" in line ? (line.sample_id ?? "") : "";
}

describe("a run on the page", () => {
  it("is what the recording has of it", () => {
    const recording = recorded();
    expect(shownBy(RunModel.of(pageDataOf(recording, "run")))).toEqual(saidBy(recording));
  });

  it("grows line by line into the same", () => {
    expect(shownBy(lineByLine(recordedText()))).toEqual(saidBy(recorded()));
  });

  it("counts of a problem that was begun again only what its last attempt did", () => {
    const model = lineByLine(resumed());
    expect(shownBy(model)).toEqual(saidBy(decodeRecording(resumed(), "run.cards.jsonl")));
    expect(model.abandoned).toBeGreaterThan(0);
    expect(model.ended).toBe("completed");
  });

  it("is what the reader of whole files has of it, however often it was killed and resumed", () => {
    const lines = recordedText().split("\n").filter(Boolean);
    const part = fc.record({
      /** How many lines it came to write, which of them it wrote as a role that was only told, and which it lost. */
      length: fc.integer({ min: 1, max: lines.length }),
      relayed: fc.array(fc.nat({ max: lines.length }), { maxLength: 6 }),
      lost: fc.array(fc.nat({ max: lines.length }), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
        const done = new Set<string>();
        const text = parts
          .flatMap(({ length, relayed, lost }, process) => {
            const own = lines
              .slice(0, length)
              .map((line, at) => ({ line: JSON.parse(line) as RecordLine, at }))
              .filter(({ line, at }) => at === 0 || (!lost.includes(at) && !done.has(sampleIn(line))));
            for (const { line } of own) if (line.kind === "score") done.add(line.sample_id);
            return own.map(({ line, at }) =>
              JSON.stringify({
                ...line,
                // Each process has a clock of its own, an hour after the one before.
                at: new Date(Date.parse(line.at) + process * 3_600_000).toISOString(),
                ...(line.kind === "card" && relayed.includes(at) && { dir: "relayed" }),
              }),
            );
          })
          .join("\n");
        expect(shownBy(lineByLine(text))).toEqual(saidBy(decodeRecording(text, "run.cards.jsonl")));
        expect(shownBy(RunModel.of(pageDataOf(decodeRecording(text, "run.cards.jsonl"), "run")))).toEqual(
          saidBy(decodeRecording(text, "run.cards.jsonl")),
        );
      }),
    );
  });

  it("has no verdict of its own end before there is one", () => {
    const model = lineByLine(recordedText(SCRIPTS, { killedAfter: 9 }).replace(/\n[^\n]*$/, ""));
    expect(model.ended).toBeUndefined();
    expect(overviewOf(model)).toMatchObject({ problems: SCRIPTS.length, done: 0, accuracy: undefined });
  });

  it("says whether the tokens on the cards are those of the calls", () => {
    const model = lineByLine(recordedText());
    expect(overviewOf(model).ledger?.ok).toBe(true);
    const [first] = recorded().calls;
    if (first) model.add(first);
    expect(overviewOf(model).ledger?.mismatches).toHaveLength(1);
    expect(overviewOf(new RunModel()).ledger).toBeUndefined();
  });
});
