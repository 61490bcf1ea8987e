import { Command } from "commander";
import type { CliContext } from "../cli-context.ts";
import { OutputWriter } from "../output-writer.ts";
import { addOutputFormatOptions, type OutputFormatOptions } from "./cards-command-options.ts";

const DATASET_SOURCES = [
  {
    dataset: "gsm8k",
    licence: "MIT, © 2021 OpenAI",
    from: "https://github.com/openai/grade-school-math",
    folder: "grade_school_math/data",
    files: ["test.jsonl", "test_socratic.jsonl", "example_model_solutions.jsonl"],
    note: "The oracle needs test_socratic.jsonl, recorded: models the last one. 20 problems are shipped.",
  },
  {
    dataset: "hotpotqa",
    licence: "CC BY-SA 4.0",
    from: "https://hotpotqa.github.io",
    folder: "",
    files: ["hotpot_dev_distractor_v1.json"],
    note: "Not shipped, because of its licence.",
  },
] as const;

/**
 * Creates `colloquy cards fetch`, which prints the download addresses of the complete datasets. The command
 * does not download datasets, because users should read the licenses first.
 */
export function createPrintDatasetUrlsCommand(context: CliContext): Command {
  return addOutputFormatOptions(new Command("fetch"))
    .argument("[folder]", "folder for the datasets", "data")
    .action((folder: string, { output }: OutputFormatOptions) => {
      if (output === "json") {
        new OutputWriter(context.streams, output).writeJson({ folder, sources: DATASET_SOURCES });
        return;
      }
      const blocks = DATASET_SOURCES.map(({ dataset, licence, from, folder: sourceFolder, files, note }) =>
        [
          `${dataset} (${licence})`,
          `  from  ${from}${sourceFolder === "" ? "" : `, folder ${sourceFolder}`}`,
          ...files.map((file) => `  to    ${folder}/${dataset}/${file}`),
          `  ${note}`,
        ].join("\n"),
      );
      const run = `then  colloquy cards run --data ${folder} --dataset gsm8k -n 200 --model <name>`;
      context.streams.out(`${[...blocks, run].join("\n\n")}\n`);
    });
}
