import { Command, InvalidArgumentError, Option } from "commander";
import {
  generateFlowDiagram,
  renderRoleGraphMermaid,
  buildRoleGraph,
  renderSequenceText,
  renderSequenceMermaid,
  type Recording,
  type RunSample,
  renderSequenceSvg,
  renderTimelineText,
  visualizeCards,
} from "../../cards/index.ts";
import type { CliContext } from "../cli-context.ts";
import { OutputWriter } from "../output-writer.ts";
import { escapeControlCharacters } from "../text-writer.ts";
import { addCardsOptions, type CardsOptions } from "./cards-options.ts";
import {
  requireSingleSample,
  filterRecording,
  createSampleOption,
  type SampleOptions,
  selectSamples,
} from "./sample-selection.ts";
import { readRun } from "./read-runs.ts";

interface ShowOptions extends CardsOptions, SampleOptions {
  style: ShowStyle;
  width?: number;
}

interface RenderOptions {
  readonly width: number;
  readonly colors: boolean;
}

type ShowStyle = keyof typeof TEXT_STYLES | keyof typeof DIAGRAM_STYLES | "graph";

/**
 * Text formats that show one problem at a time. If a recording contains several problems, the command prints
 * the problems one after another.
 */
const TEXT_STYLES = {
  boxes: ({ cards }: RunSample, renderOptions: RenderOptions) => visualizeCards(cards, renderOptions),
  flow: ({ cards }: RunSample) => generateFlowDiagram(cards),
  lanes: ({ cards }: RunSample, { width }: RenderOptions) => renderSequenceText(cards, { width }),
  classic: ({ cards }: RunSample) => visualizeCards(cards, { style: "classic" }),
  timeline: (sample: RunSample, { width }: RenderOptions, recording: Recording) =>
    renderTimelineText(filterRecording(recording, [sample]), { width }),
};

/** Diagram formats that produce a complete file and therefore support only one problem. */
const DIAGRAM_STYLES = {
  mermaid: ({ cards }: RunSample) => renderSequenceMermaid(cards),
  svg: ({ cards, id }: RunSample) =>
    renderSequenceSvg(cards, id === undefined ? {} : { title: `Cards of ${id}` }),
};

export function createCardsShowCommand(context: CliContext): Command {
  return addCardsOptions(new Command("show"))
    .addOption(createSampleOption())
    .addOption(
      new Option("--style <style>", "display style; graph shows the entire run in Mermaid")
        .choices([...Object.keys(TEXT_STYLES), ...Object.keys(DIAGRAM_STYLES), "graph"])
        .default("boxes"),
    )
    .addOption(
      new Option("--width <columns>", "width in columns (default: the terminal's width, or 100)").argParser(
        parseColumns,
      ),
    )
    .action(async (files: string[], options: ShowOptions) => {
      const { run, sample, style, output } = options;
      const { recording } = await readRun(files, run, context.stdin);
      const samples = selectSamples(recording, sample);
      if (output === "json") {
        new OutputWriter(context.streams, output).writeJson(samples.flatMap(({ cards }) => cards));
      } else if (style === "graph") {
        context.streams.out(renderRoleGraphMermaid(buildRoleGraph(filterRecording(recording, samples))));
      } else if (style === "mermaid" || style === "svg") {
        context.streams.out(DIAGRAM_STYLES[style](requireSingleSample(samples)));
      } else {
        const renderOptions = {
          width: options.width ?? context.stdoutColumns ?? 100,
          colors: shouldUseColors(context),
        };
        const isOne = samples.length === 1 && samples[0]?.score === undefined;
        for (const one of samples) {
          const heading = isOne ? "" : `${renderSampleHeading(one)}\n`;
          context.streams.out(
            `${heading}${TEXT_STYLES[style](one, renderOptions, recording)}\n${isOne ? "" : "\n"}`,
          );
        }
      }
    });
}

/** Renders the id and score of a problem. */
function renderSampleHeading({ id, score }: RunSample): string {
  const name = id ?? "Cards of no problem";
  if (!score) return name;
  const { predicted, gold, correct } = score;
  const answer = predicted === undefined ? "no answer" : truncate(predicted);
  return correct ? `${name}: ${answer}, correct` : `${name}: ${answer}, wrong; it is ${truncate(gold)}`;
}

function truncate(text: string): string {
  const line = escapeControlCharacters(text.replaceAll(/\s+/g, " "));
  return line.length > 80 ? `${line.slice(0, 79).toWellFormed()}…` : line;
}

/** Returns true if stdout is a terminal and the user has not disabled colors (no-color.org). */
function shouldUseColors({ stdoutColumns, env }: CliContext): boolean {
  return stdoutColumns !== undefined && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}

function parseColumns(text: string): number {
  const columns = Number(text);
  if (!Number.isInteger(columns) || columns < 40 || columns > 1000)
    throw new InvalidArgumentError("Use a number of columns from 40 to 1000.");
  return columns;
}
