/**
 * A run in a separate process that kills itself with SIGKILL after a number of cards. Usage: `node
 * run-writer-process.fixture.ts <folder> <cards>`. It records two problems at a time, with six cards each.
 */
import { createScriptedRecording } from "../../recording/recording.fixture.ts";
import { SCRIPTED_SEQUENTIAL_TASKS_SAMPLE } from "../../recording/scripted-samples.fixture.ts";
import { toCardParts } from "../../index.ts";
import type { JsonObject } from "../../../protocol/index.ts";
import { openRunFile } from "./index.ts";
import { EXAMPLE_RUN } from "./example-run.fixture.ts";

const [, , out = "", cards = ""] = process.argv;
const openedTestRunFile = openRunFile(EXAMPLE_RUN, { outputFolder: out, resume: true });
let testCardsLeftBeforeKill = Number(cards);

async function recordTestSample(sample_id: string): Promise<void> {
  for (const card of createScriptedRecording([{ ...SCRIPTED_SEQUENTIAL_TASKS_SAMPLE, id: sample_id }])
    .cards) {
    // Each attempt has different metadata, so that a mix of two attempts is visible.
    const card_id = `${card.metadata.card_id}-${process.pid}`;
    const metadata = { ...card.metadata, run_id: EXAMPLE_RUN.run_id, card_id, attempt_of: process.pid };
    openedTestRunFile.writer.write({
      kind: "request",
      call: openedTestRunFile.writer.createCallId(),
      to: card.recipient,
      binding: "JSONRPC",
      operation: "SendMessage",
      body: { parts: toCardParts({ ...card, metadata }) } as unknown as JsonObject,
    });
    if (--testCardsLeftBeforeKill === 0) process.kill(process.pid, "SIGKILL");
    // Lets the other problem continue.
    await Promise.resolve();
  }
  openedTestRunFile.recordSampleScore({
    run_id: EXAMPLE_RUN.run_id,
    sample_id,
    gold: "18",
    predicted: "18",
    correct: true,
    rule: EXAMPLE_RUN.rule,
  });
}

const pendingTestSampleIds = EXAMPLE_RUN.sample_ids.filter((id) => !openedTestRunFile.doneSampleIds.has(id));
const recordPendingTestSamples = async (): Promise<void> => {
  for (let id = pendingTestSampleIds.shift(); id !== undefined; id = pendingTestSampleIds.shift())
    await recordTestSample(id);
};
await Promise.all([recordPendingTestSamples(), recordPendingTestSamples()]);
openedTestRunFile.endRun("completed");
