/**
 * An experiment in a process of its own, with roles that are elsewhere: `node experiment-child.fixture.ts <folder> <links>
 * <problems>`. It ends itself by SIGKILL when so many problems are done, while others are under way.
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
