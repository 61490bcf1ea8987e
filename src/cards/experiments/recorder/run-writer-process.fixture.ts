/**
 * A run in a separate process that kills itself with SIGKILL after a number of cards. Usage: `node
 * run-writer-process.fixture.ts <folder> <cards>`. It records two problems at a time, with six cards each.
 */
import { createScriptedRecording } from "../../recording/recording.fixture.ts";
import { SCRIPTED_SEQUENTIAL_TASKS_SAMPLE } from "../../recording/scripted-samples.fixture.ts";
import { openRunFile } from "./index.ts";
import { EXAMPLE_RUN } from "./example-run.fixture.ts";

const [, , out = "", cards = ""] = process.argv;
const openedTestRunFile = openRunFile(EXAMPLE_RUN, { outputFolder: out, resume: true });
let testCardsLeftBeforeKill = Number(cards);

async function recordTestSample(sample_id: string): Promise<void> {
  for (const { card, dir, at_role } of createScriptedRecording([
    { ...SCRIPTED_SEQUENTIAL_TASKS_SAMPLE, id: sample_id },
  ]).cards) {
    // Each attempt has different metadata, so that a mix of two attempts is visible.
    const metadata = { ...card.metadata, attempt_of: process.pid };
    openedTestRunFile.recordCard({
      run_id: EXAMPLE_RUN.run_id,
      sample_id,
      dir,
      at_role,
      card: { ...card, metadata },
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
