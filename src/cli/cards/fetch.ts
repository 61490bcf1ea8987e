import { Command } from "commander";
import type { Context } from "../context.ts";
import { Output } from "../output.ts";
import { addDocumentOptions, type DocumentOptions } from "./options.ts";

const SOURCES = [
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

/** Says where to get the whole datasets. It loads nothing by itself: what is loaded has licences to be read. */
export function cardsFetchCommand(context: Context): Command {
  return addDocumentOptions(new Command("fetch"))
    .argument("[folder]", "where they are to be", "data")
    .action((folder: string, { output }: DocumentOptions) => {
      if (output === "json") {
        new Output(context.streams, output).document({ folder, sources: SOURCES });
        return;
      }
      const blocks = SOURCES.map(({ dataset, licence, from, folder: inside, files, note }) =>
        [
          `${dataset} (${licence})`,
          `  from  ${from}${inside === "" ? "" : `, folder ${inside}`}`,
          ...files.map((file) => `  to    ${folder}/${dataset}/${file}`),
          `  ${note}`,
        ].join("\n"),
      );
      const run = `then  colloquy cards run --data ${folder} --dataset gsm8k -n 200`;
      context.streams.out(`${[...blocks, run].join("\n\n")}\n`);
    });
}
