import { expect, it } from "vitest";
import { decodeRecording } from "../../src/cards/recording/decode-recording.ts";
import { createScriptedRecordFileText } from "../../src/cards/recording/recording.fixture.ts";
import { createScriptedSamples } from "../../src/cards/recording/scripted-samples.fixture.ts";
import { extractAnswer, findLastNumber } from "../../src/cards/scoring/index.ts";
import { collectArtifactFiles } from "../../src/cli/download/collect-artifact-files.ts";
import { ArtifactContentTracker, type Part } from "../../src/protocol/index.ts";
import { parseAction } from "../../src/cards/roles/planner-action.ts";
import { measureCpuTime } from "./measure-cpu-time.ts";

const repeatAction = (part: string) => (): unknown => parseAction(part.repeat(100_000));

/** Work on hostile or large input. Quadratic work would take many times the limit of two seconds. */
const WORK: Record<string, () => unknown> = {
  "decode a recording of 1,319 problems": () =>
    decodeRecording(createScriptedRecordFileText(createScriptedSamples(1_319)), "cards.jsonl"),
  "find the last of 100,000 numbers": () => findLastNumber("1,".repeat(100_000)),
  "find a number among 200,000 signs": () => findLastNumber("-".repeat(200_000)),
  "find an answer among 100,000 labels": () => extractAnswer("A:".repeat(100_000), "number"),
  "find an action among 100,000 braces": repeatAction("{"),
  "find an action among 100,000 open names": repeatAction('{"'),
  "find an action in nested objects": repeatAction('{"a":{'),
  "find an action among 100,000 code blocks": repeatAction("```\n{"),
  "name 20,000 files with equal names": () =>
    collectArtifactFiles({
      artifacts: [
        {
          artifactId: "a",
          parts: Array.from({ length: 20_000 }, () => ({ raw: "eA==", filename: "a.txt" })),
        },
      ],
    }),
  "compare 200,000 parts of an artifact": () => {
    const parts = Array.from({ length: 200_000 }, (_, data): Part => ({ data }));
    const tracker = new ArtifactContentTracker();
    tracker.addUpdate({ artifact: { artifactId: "a", parts } });
    tracker.addUpdate({ artifact: { artifactId: "a", parts: [...parts, { data: "new" }] } });
  },
};

it.each(Object.entries(WORK))("takes at most two seconds of CPU time to %s", (_, work) => {
  expect(measureCpuTime(work)).toBeLessThan(2_000);
});
