/**
 * An experiment in a separate process, whose roles run elsewhere. Usage: `node self-killing-experiment.fixture.ts
 * <folder> <role URLs as JSON> <problems>`. It kills itself with SIGKILL when `<problems>` problems are done
 * and others are in progress.
 */
import { readDataset, runExperiment } from "../index.ts";

const [, , out = "", links = "{}", problems = "0"] = process.argv;

await runExperiment({
  dataset: readDataset("gsm8k"),
  model: {},
  roleUrls: JSON.parse(links) as Record<string, string>,
  outputFolder: out,
  runId: "killed",
  resume: true,
  onProgress: ({ done }) => {
    if (done === Number(problems)) process.kill(process.pid, "SIGKILL");
  },
});
