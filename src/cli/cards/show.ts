import { Command, InvalidArgumentError, Option } from "commander";
import {
  generateFlowDiagram,
  graphMermaidOf,
  graphOf,
  lanesOf,
  mermaidOf,
  type Recording,
  type RunSample,
  svgOf,
  timelineOf,
  visualizeCards,
} from "../../cards/index.ts";
import type { Context } from "../context.ts";
import { Output } from "../output.ts";
import { printable } from "../text.ts";
import { addCardsOptions, type CardsOptions } from "./options.ts";
import { onlySample, recordingOnly, sampleOption, type SampleOptions, samplesToShow } from "./samples.ts";
import { readRun } from "./read.ts";

interface ShowOptions extends CardsOptions, SampleOptions {
  style: Style;
  width?: number;
}

interface Look {
  readonly width: number;
  readonly colors: boolean;
}

type Style = keyof typeof STYLES | keyof typeof DIAGRAMS | "graph";

/** How one problem is shown to people; several stand below each other. */
const STYLES = {
  boxes: ({ cards }: RunSample, look: Look) => visualizeCards(cards, look),
  flow: ({ cards }: RunSample) => generateFlowDiagram(cards),
  lanes: ({ cards }: RunSample, { width }: Look) => lanesOf(cards, { width }),
  classic: ({ cards }: RunSample) => visualizeCards(cards, { style: "classic" }),
  timeline: (sample: RunSample, { width }: Look, recording: Recording) =>
    timelineOf(recordingOnly(recording, [sample]), { width }),
};

/** What is a file of its own: of one problem. */
const DIAGRAMS = {
  mermaid: ({ cards }: RunSample) => mermaidOf(cards),
  svg: ({ cards, id }: RunSample) => svgOf(cards, id === undefined ? {} : { title: `Cards of ${id}` }),
};

export function cardsShowCommand(context: Context): Command {
  return addCardsOptions(new Command("show"))
    .addOption(sampleOption())
    .addOption(
      new Option("--style <style>", "how to show them; graph is of the whole run, in Mermaid")
        .choices([...Object.keys(STYLES), ...Object.keys(DIAGRAMS), "graph"])
        .default("boxes"),
    )
    .addOption(
      new Option("--width <columns>", "how wide; otherwise as the terminal, or 100").argParser(columnsOf),
    )
    .action(async (files: string[], options: ShowOptions) => {
      const { run, sample, style, output } = options;
      const { recording } = await readRun(files, run, context.stdin);
      const samples = samplesToShow(recording, sample);
      if (output === "json") {
        new Output(context.streams, output).document(samples.flatMap(({ cards }) => cards));
      } else if (style === "graph") {
        context.streams.out(graphMermaidOf(graphOf(recordingOnly(recording, samples))));
      } else if (style === "mermaid" || style === "svg") {
        context.streams.out(DIAGRAMS[style](onlySample(samples)));
      } else {
        const look = { width: options.width ?? context.columns ?? 100, colors: hasColors(context) };
        const isOne = samples.length === 1 && samples[0]?.score === undefined;
        for (const one of samples) {
          const heading = isOne ? "" : `${headingOf(one)}\n`;
          context.streams.out(`${heading}${STYLES[style](one, look, recording)}\n${isOne ? "" : "\n"}`);
        }
      }
    });
}

/** The problem, and what became of it. */
function headingOf({ id, score }: RunSample): string {
  const name = id ?? "Cards of no problem";
  if (!score) return name;
  const { predicted, gold, correct } = score;
  const answer = predicted === undefined ? "no answer" : short(predicted);
  return correct ? `${name}: ${answer}, correct` : `${name}: ${answer}, wrong; it is ${short(gold)}`;
}

function short(text: string): string {
  const line = printable(text.replaceAll(/\s+/g, " "));
  return line.length > 80 ? `${line.slice(0, 79).toWellFormed()}…` : line;
}

/** Only where somebody looks, and not where they have said that they want none (no-color.org). */
function hasColors({ columns, env }: Context): boolean {
  return columns !== undefined && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb";
}

function columnsOf(text: string): number {
  const columns = Number(text);
  if (!Number.isInteger(columns) || columns < 40 || columns > 1000)
    throw new InvalidArgumentError("Give a number of columns from 40 to 1000.");
  return columns;
}
