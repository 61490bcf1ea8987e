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
