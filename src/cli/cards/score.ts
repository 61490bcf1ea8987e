import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Command, Option } from "commander";
import { buildRunReport, decodeRecording, decodeRecordLines } from "../../cards/index.ts";
import { encodeTrafficLine } from "../../observe/trace/index.ts";
import { SharedTextEncoder } from "../../observe/trace/recording/index.ts";
import { rescoreRecordLines } from "../../cards/experiments/index.ts";
import type { RoleModel } from "../../cards/roles/index.ts";
import type { CliContext } from "../cli-context.ts";
import { createAnswerScorer, createRoleModel } from "./role-models.ts";
import { createUsageError } from "../cli-error.ts";
import { addOutputFormatOptions, type CardsCommandOptions, readFileOrStdin } from "./read-runs.ts";
import { OutputWriter } from "../output-writer.ts";
import { formatOutcomes, formatPercentWithInterval, renderTable } from "./text-table.ts";

interface ScoreOptions extends CardsCommandOptions {
  scorer: string;
  out?: string;
}

export function createCardsScoreCommand(context: CliContext): Command {
  return addOutputFormatOptions(
    new Command("score")
      .argument("<file>", "recording of a run (.cards.jsonl)")
      .addOption(
        new Option(
          "--scorer <name>",
          "number, exact, f1, choice, a file such as ./score.ts, or judge:MODEL",
        ).makeOptionMandatory(),
      )
      .option(
        "--out <file>",
        "path of the new recording (default: the run id and the scorer, in the folder of the file)",
      ),
  ).action(async (file: string, { scorer, out, output }: ScoreOptions) => {
    const text = await readFileOrStdin(file, context.stdin);
    const before = decodeRecording(text, file);
    if (!before.run)
      throw createUsageError(`${file} has no run line.`, "Pass the recording of the run (.cards.jsonl).");
    const lines = await rescoreRecordLines(
      [...decodeRecordLines(text)].flatMap(({ line }) => ("torn" in line ? [] : line)),
      before,
      await createAnswerScorer(scorer, createJudge),
      context.interruptSignal,
    );
    const runId = lines.find((line) => line.kind === "run")?.run_id ?? before.run.run_id;
    const target = out ?? join(file === "-" ? "." : dirname(file), `${runId}.cards.jsonl`);
    const texts = new SharedTextEncoder();
    const rescored = lines.map((line) => `${texts.encode(encodeTrafficLine(line))}\n`).join("");
    await writeNewFile(target, rescored);
    const reports = [before, decodeRecording(rescored, target)].map((recording) => buildRunReport(recording));
    if (output === "json")
      return new OutputWriter(context.streams, output).writeJson({ file: target, report: reports[1] });
    context.streams.out(
      renderTable(
        reports.map(({ run, accuracy, samples }) => [
          run?.rule ?? "",
          formatPercentWithInterval(accuracy),
          formatOutcomes(samples.outcomes),
        ]),
      ),
    );
    context.streams.err(`record: ${target}\n`);
  });
}

function createJudge(name: string): Promise<RoleModel> {
  return createRoleModel(name, { samples: [] });
}

/** Writes a file that does not exist yet. */
async function writeNewFile(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text, { flag: "wx" });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "EEXIST") throw cause;
    throw createUsageError(`${file} exists.`, "Move the file, or pass another file with --out.", cause);
  }
}
