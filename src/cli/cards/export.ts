import { Command, Option } from "commander";
import {
  renderSequenceMermaid,
  type Recording,
  getScoreOutcome,
  summarizeTokens,
  toDict,
  type RecordedSample,
} from "../../cards/index.ts";
import type { CliContext } from "../cli-context.ts";
import { renderJson } from "../text-writer.ts";
import {
  addRunFilesArgument,
  type CardsCommandOptions,
  requireSingleSample,
  filterRecording,
  createSampleOption,
  selectRecordedSamples,
  readRun,
} from "./read-runs.ts";
import { renderInspectLog } from "./render-inspect-log.ts";
import { writeOutputFile } from "./write-output-file.ts";

interface ExportOptions extends CardsCommandOptions {
  to: keyof typeof EXPORT_FORMAT_RENDERERS;
  out?: string;
}

/** Export formats for a recorded experiment run. */
const EXPORT_FORMAT_RENDERERS = {
  "seed-json": (run: Recording) => renderJsonListByLine(run.cards.map((card) => toDict(card))),
  csv: renderProblemsAsCsv,
  inspect: renderInspectLog,
  "who-and-when": renderFaultAttribution,
  mermaid: ({ samples }: Recording) =>
    renderSequenceMermaid(requireSingleSample(samples.filter(({ cards }) => cards.length > 0)).cards),
};

export function createCardsExportCommand(context: CliContext): Command {
  return addRunFilesArgument(new Command("export"))
    .addOption(
      new Option("--to <form>", "the output format")
        .choices(Object.keys(EXPORT_FORMAT_RENDERERS))
        .makeOptionMandatory(),
    )
    .addOption(createSampleOption())
    .option("--out <file>", "output file (default: stdout)")
    .action(async (files: string[], { run, sample, to, out }: ExportOptions) => {
      const { recording } = await readRun(files, run, context.stdin);
      const selection = filterRecording(recording, selectRecordedSamples(recording, sample));
      const text = EXPORT_FORMAT_RENDERERS[to](selection);
      if (out === undefined) context.streams.outDocument(text);
      else await writeOutputFile(out, text);
    });
}

/** Renders one line for each problem, with its answer, outcome, and tokens. Unknown tokens are empty. */
function renderProblemsAsCsv(run: Recording): string {
  const head = "sample_id,question,gold,predicted,correct,outcome,error,turns,input_tokens,output_tokens";
  const rows = run.samples.flatMap(({ id, cards, score, skip }) => {
    if (id === undefined) return [];
    const { sum, unknownCards } = summarizeTokens(cards);
    const tokens = unknownCards > 0 ? [undefined, undefined] : [sum.input, sum.output];
    const outcome = score ? getScoreOutcome(score) : skip ? "skipped" : "unfinished";
    const { gold, predicted, correct, error = skip?.error, turns } = score ?? {};
    return [[id, cards[0]?.content, gold, predicted, correct, outcome, error, turns, ...tokens]];
  });
  return [head, ...rows.map((row) => row.map(quoteCsvField).join(","))].map((line) => `${line}\r\n`).join("");
}

function quoteCsvField(value: string | number | boolean | undefined): string {
  const text = String(value ?? "");
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Renders a JSON list with one element on each line, so that tools such as `grep` can search the list. */
function renderJsonListByLine(items: readonly object[]): string {
  return items.length > 0 ? `[\n${items.map((item) => renderJson(item)).join(",\n")}\n]\n` : "[]\n";
}

/**
 * Renders the problems whose message cards `--faults` changed, one JSON object per line, in the format of the data set
 * Who&When. `mistake_agent` and `mistake_step` are the role and the position in `history` of the first faulty message
 * card. Unlike annotations of people, they are exact. `faults` also lists delays and the failures of calls that the role
 * repeated.
 */
function renderFaultAttribution({ samples }: Recording): string {
  return samples.flatMap((sample) => renderSample(sample) ?? []).join("");
}

function renderSample({ id, cards, calls, score }: RecordedSample): string | undefined {
  const faults = calls
    .flatMap(({ line, role, turn, cardId }) => {
      const step = cards.findIndex(({ metadata }) => metadata.card_id === cardId);
      return (line.injected_faults ?? []).map((fault) => ({
        agent: role,
        step: step < 0 ? undefined : step,
        turn,
        fault,
        ...(line.wait_ms !== undefined && { is_repeated: true }),
      }));
    })
    .toSorted((a, b) => (a.step ?? cards.length) - (b.step ?? cards.length));
  // A delay, and a call that the role repeated, change no card.
  const first = faults.find(({ fault, is_repeated }) => fault !== "slow" && !is_repeated);
  if (!first) return undefined;
  const problem = {
    question_ID: id,
    question: cards[0]?.content,
    ground_truth: score?.gold,
    final_answer: score?.predicted,
    is_correct: score?.correct,
    history: cards.map(({ sender, recipient, message_type, content }) => ({
      role: sender,
      name: sender,
      to: recipient,
      type: message_type,
      content,
    })),
    mistake_agent: first.agent,
    mistake_step: first.step,
    mistake_reason: first.fault,
    faults,
  };
  return `${renderJson(problem)}\n`;
}
