import { describe, expect, it } from "vitest";
import type { TrafficLine } from "../../../../observe/trace/index.ts";
import { buildRunReport, decodeRecording, type Recording } from "../../../../cards/index.ts";
import { createScriptedRecordFileText } from "../../../../cards/recording/recording.fixture.ts";
import { SCRIPTED_GSM8K_SAMPLES } from "../../../../cards/recording/scripted-samples.fixture.ts";
import { buildCardRunData, RunModel } from "./run-model.ts";

/** Returns the data that the page shows for each problem. */
const summarizeSamples = ({ samples }: Recording): object[] =>
  samples.map(({ id, timedCards, calls, score, skip }) => ({ id, timedCards, calls, score, skip }));

function buildModelLineByLine(text: string): RunModel {
  const model = new RunModel();
  for (const line of text.split("\n").filter(Boolean)) model.add(JSON.parse(line) as TrafficLine);
  return model;
}

/** A run that was killed in its second problem and resumed. */
function createResumedRunText(): string {
  const text = createScriptedRecordFileText();
  const [killed = ""] = text.split(/^.*"kind":"score".*"gsm8k_1"/m);
  return `${killed}${text.replaceAll("gsm8k_1.", "gsm8k_1-again.")}`;
}

const TEXTS: readonly (readonly [string, string])[] = [
  ["complete", createScriptedRecordFileText()],
  ["resumed", createResumedRunText()],
  [
    "without token counts",
    createScriptedRecordFileText().replaceAll('"source":"reported"', '"source":"none"'),
  ],
  [
    "with a skipped problem",
    createScriptedRecordFileText().replace(
      /"kind":"score"(.*?"sample_id":"[^"]+").*/,
      '"kind":"skip"$1,"error":"The provider answered 400"}',
    ),
  ],
  ...[9, 20, 40].map(
    (killAfterLine) =>
      [
        `killed after line ${killAfterLine}`,
        createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES, { killAfterLine }),
      ] as const,
  ),
];

describe("a run on the page", () => {
  it.each(TEXTS)("equals the recording of a run that is %s", (_, text) => {
    const recording = decodeRecording(text, "run.cards.jsonl");
    const model = RunModel.fromRunData(buildCardRunData(recording, "run"));
    expect(summarizeSamples(model)).toEqual(summarizeSamples(recording));
    expect(model.abandonedCardCount).toBe(recording.abandoned.cards.length);
    const { abandoned: _abandoned, torn: _torn, ...page } = buildRunReport(model);
    expect(buildRunReport(recording)).toMatchObject(page);
  });

  it("has the same result if lines are added one by one", () => {
    const recording = decodeRecording(createResumedRunText(), "run.cards.jsonl");
    const model = buildModelLineByLine(createResumedRunText());
    expect(summarizeSamples(model)).toEqual(summarizeSamples(recording));
    expect(model.abandonedCardCount).toBeGreaterThan(0);
    expect(model.endStatus).toBe("completed");
  });

  it("has no end status before the run has ended", () => {
    const model = buildModelLineByLine(
      createScriptedRecordFileText(SCRIPTED_GSM8K_SAMPLES, { killAfterLine: 9 }).replace(/\n[^\n]*$/, ""),
    );
    expect(model.endStatus).toBeUndefined();
    expect(buildRunReport(model)).toMatchObject({
      samples: { total: SCRIPTED_GSM8K_SAMPLES.length, done: 0 },
      accuracy: undefined,
    });
  });

  it("reports whether the tokens on the cards equal those of the calls", () => {
    const model = buildModelLineByLine(createScriptedRecordFileText());
    expect(buildRunReport(model).violations).toEqual([]);
    const [first] = model.calls;
    if (first) model.add(first.line);
    expect(buildRunReport(model).violations).toHaveLength(1);
  });
});
