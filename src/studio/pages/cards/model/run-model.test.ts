import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  computeCardTransitTimes,
  type Recording,
  type RecordLine,
  collectRecordedSamples,
} from "../../../../cards/index.ts";
import { decodeRecording } from "../../../../cards/index.ts";
import {
  createScriptedRecording,
  createScriptedRecordFileText,
} from "../../../../cards/recording/recording.fixture.ts";
import {
  SCRIPTED_SEQUENTIAL_TASKS_SAMPLE,
  SCRIPTED_GSM8K_SAMPLES,
} from "../../../../cards/recording/scripted-samples.fixture.ts";
import { buildRunReport } from "../../../../cards/index.ts";
import { summarizeRun } from "./run-statistics.ts";
import { buildCardRunData } from "../card-run-data.ts";
import { RunModel } from "./run-model.ts";

/** Returns the data that the page shows for each problem. */
function summarizeModelSamples(model: RunModel): object[] {
  return model.samples.map(({ id, cards, calls, score }) => ({
    id,
    cards: cards.map(({ card, sentMs: sent, arrivedMs: arrived }) => ({ card, sent, arrived })),
    calls,
    score,
  }));
}

/** Returns the same data from the decoded file. */
function summarizeRecordingSamples(recording: Recording): object[] {
  return collectRecordedSamples(recording).map(({ id, cardLines: lines, calls, score }) => ({
    id: id ?? "",
    cards: computeCardTransitTimes(lines).map(({ card, sentMs: sent, arrivedMs: arrived }) => ({
      card,
      sent,
      arrived,
    })),
    calls,
    score,
  }));
}

function buildModelLineByLine(text: string): RunModel {
  const model = new RunModel();
  for (const line of text.split("\n").filter(Boolean)) model.addLine(JSON.parse(line) as RecordLine);
  return model;
}

/** A run that was killed in its second problem and resumed by a process with a different clock. */
function createResumedRunText(): string {
  const whole = createScriptedRecordFileText();
  const lines = whole.split("\n").filter(Boolean);
  const scored = lines.findIndex((line) => line.includes('"kind":"score"'));
  const later = lines
    .filter((line, at) => at === 0 || !line.includes(SCRIPTED_SEQUENTIAL_TASKS_SAMPLE.id))
    .map((line) => line.replace(/"at":"2026-11-21T10:/, '"at":"2026-11-21T11:'));
  return [...lines.slice(0, scored + 4), ...later, ""].join("\n");
}

function getSampleId(line: RecordLine): string {
  return "sample_id" in line ? (line.sample_id ?? "") : "";
}

describe("a run on the page", () => {
  it("equals the recording", () => {
    const recording = createScriptedRecording();
    expect(summarizeModelSamples(RunModel.fromRunData(buildCardRunData(recording, "run")))).toEqual(
      summarizeRecordingSamples(recording),
    );
  });

  it("has the same result if lines are added one by one", () => {
    expect(summarizeModelSamples(buildModelLineByLine(createScriptedRecordFileText()))).toEqual(
      summarizeRecordingSamples(createScriptedRecording()),
    );
  });

  it("counts only the last attempt of a restarted problem", () => {
    const model = buildModelLineByLine(createResumedRunText());
    expect(summarizeModelSamples(model)).toEqual(
      summarizeRecordingSamples(decodeRecording(createResumedRunText(), "run.cards.jsonl")),
    );
    expect(model.abandonedCardCount).toBeGreaterThan(0);
    expect(model.runEndStatus).toBe("completed");
  });

  it("equals the decoded file after any number of kills and resumes", () => {
    const lines = createScriptedRecordFileText().split("\n").filter(Boolean);
    const part = fc.record({
      /** Number of written lines, relayed lines, and lost lines. */
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
              .filter(({ line, at }) => at === 0 || (!lost.includes(at) && !done.has(getSampleId(line))));
            for (const { line } of own) if (line.kind === "score") done.add(line.sample_id);
            return own.map(({ line, at }) =>
              JSON.stringify({
                ...line,
                // Each process has its own clock and starts an hour after the previous process.
                at: new Date(Date.parse(line.at) + process * 3_600_000).toISOString(),
                ...(line.kind === "card" && relayed.includes(at) && { dir: "relayed" }),
              }),
            );
          })
          .join("\n");
        expect(summarizeModelSamples(buildModelLineByLine(text))).toEqual(
          summarizeRecordingSamples(decodeRecording(text, "run.cards.jsonl")),
        );
        expect(
          summarizeModelSamples(
            RunModel.fromRunData(buildCardRunData(decodeRecording(text, "run.cards.jsonl"), "run")),
          ),
        ).toEqual(summarizeRecordingSamples(decodeRecording(text, "run.cards.jsonl")));
      }),
    );
  });

  it("has the figures of the report, for any part of a run that is resumed", () => {
    const texts = [
      createScriptedRecordFileText(),
      createResumedRunText(),
      createScriptedRecordFileText().replaceAll('"source":"reported"', '"source":"none"'),
      createScriptedRecordFileText().replace(
        /"kind":"score"(.*?"sample_id":"[^"]+").*/,
        '"kind":"skip"$1,"error":"The provider answered 400"}',
      ),
      ...[9, 30, 70].map((killAfterLine) =>
        createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES, { killAfterLine }),
      ),
    ];
    for (const text of texts) {
      const recording = decodeRecording(text, "run.cards.jsonl");
      const { samples, accuracy, measures, figures, spending, ledger, tokens, time, findings } =
        buildRunReport(recording);
      const { estimatedShare: _share, price: _price, ...tokenFigures } = tokens;
      const page = summarizeRun(RunModel.fromRunData(buildCardRunData(recording, "run")));
      expect(page).toMatchObject({ samples, accuracy, measures, figures, ledger, tokens: tokenFigures });
      expect(page.spending).toEqual(spending);
      expect(page.timePerSample).toEqual(time.perSample);
      expect(page.findings).toEqual(expect.arrayContaining([...findings]));
      expect(page.findings).toHaveLength(findings.length);
    }
    expect(buildRunReport(decodeRecording(texts[3] ?? "", "skip")).samples.skipped).toBe(1);
  });

  it("has no end status before the run has ended", () => {
    const model = buildModelLineByLine(
      createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES, { killAfterLine: 9 }).replace(/\n[^\n]*$/, ""),
    );
    expect(model.runEndStatus).toBeUndefined();
    expect(summarizeRun(model)).toMatchObject({
      samples: { total: SCRIPTED_GSM8K_SAMPLES.length, done: 0 },
      accuracy: undefined,
    });
  });

  it("reports whether the tokens on the cards equal those of the calls", () => {
    const model = buildModelLineByLine(createScriptedRecordFileText());
    expect(summarizeRun(model).ledger?.ok).toBe(true);
    const [first] = createScriptedRecording().calls;
    if (first) model.addLine(first);
    expect(summarizeRun(model).ledger?.mismatches).toHaveLength(1);
    expect(summarizeRun(new RunModel()).ledger).toBeUndefined();
  });
});
