import { Command, InvalidArgumentError, Option } from "commander";
import {
  generateFlowDiagram,
  renderSequenceText,
  type RecordedSample,
  truncateLine,
  visualizeCards,
} from "../../cards/index.ts";
import type { CliContext } from "../cli-context.ts";
import { OutputWriter } from "../output-writer.ts";
import { showsColors } from "../terminal-streams.ts";
import {
  addCardsCommandOptions,
  type CardsCommandOptions,
  createSampleOption,
  selectRecordedSamples,
  readRun,
} from "./read-runs.ts";

interface ShowOptions extends CardsCommandOptions {
  style: CardsShowStyle;
  width?: number;
}

interface TextRenderOptions {
  readonly width: number;
  readonly colors: boolean;
}

type CardsShowStyle = keyof typeof TEXT_STYLE_RENDERERS;

/**
 * Text formats that show one problem at a time. If a recording contains several problems, the command prints
 * the problems one after another.
 */
const TEXT_STYLE_RENDERERS = {
  boxes: ({ cards }: RecordedSample, renderOptions: TextRenderOptions) =>
    visualizeCards(cards, renderOptions),
  flow: ({ cards }: RecordedSample) => generateFlowDiagram(cards),
  lanes: ({ cards }: RecordedSample, { width }: TextRenderOptions) => renderSequenceText(cards, { width }),
  classic: ({ cards }: RecordedSample) => visualizeCards(cards, { style: "classic" }),
};

export function createCardsShowCommand(context: CliContext): Command {
  return addCardsCommandOptions(new Command("show"))
    .addOption(createSampleOption())
    .addOption(
      new Option("--style <style>", "display style")
        .choices(Object.keys(TEXT_STYLE_RENDERERS))
        .default("boxes"),
    )
    .addOption(
      new Option("--width <columns>", "width in columns (default: the terminal's width, or 100)").argParser(
        parseWidthInColumns,
      ),
    )
    .action(async (files: string[], options: ShowOptions) => {
      const { run, sample, style, output } = options;
      const { recording } = await readRun(files, run, context.stdin);
      const samples = selectRecordedSamples(recording, sample);
      if (output === "json") {
        new OutputWriter(context.streams, output).writeJson(samples.flatMap(({ cards }) => cards));
      } else {
        const renderOptions = {
          width: options.width ?? context.stdoutColumns ?? 100,
          colors: showsColors(context.stdoutColumns, context.env),
        };
        const isOne = samples.length === 1 && samples[0]?.score === undefined;
        for (const one of samples) {
          const heading = isOne ? "" : `${renderSampleHeading(one)}\n`;
          context.streams.outColored(
            `${heading}${TEXT_STYLE_RENDERERS[style](one, renderOptions)}\n${isOne ? "" : "\n"}`,
          );
        }
      }
    });
}

/** Renders the id and score of a problem. */
function renderSampleHeading({ id, score }: RecordedSample): string {
  const name = id ?? "Cards of no problem";
  if (!score) return name;
  const { predicted, gold, correct } = score;
  const answer = predicted === undefined ? "no answer" : truncateLine(predicted, 80);
  return correct
    ? `${name}: ${answer}, correct`
    : `${name}: ${answer}, wrong; it is ${truncateLine(gold, 80)}`;
}

function parseWidthInColumns(text: string): number {
  const columns = Number(text);
  if (!Number.isInteger(columns) || columns < 40 || columns > 1000)
    throw new InvalidArgumentError("Use a number of columns from 40 to 1000.");
  return columns;
}
