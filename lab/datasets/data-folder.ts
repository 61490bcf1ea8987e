/**
 * Folder with `gsm8k/` (test.jsonl, test_socratic.jsonl, example_model_solutions.jsonl) and `hotpotqa/`
 * (dev_distractor_first100.jsonl, dev_distractor_sample200.jsonl). The licenses do not permit us to include the entire
 * datasets. docs/card-experiments.md states where to download them.
 */
export const dataFolder: string = process.env["COLLOQUY_DATA"] ?? "";
if (dataFolder === "")
  throw new Error("Set COLLOQUY_DATA to the folder of the datasets (see lab/datasets/data-folder.ts).");
