import { Command } from "commander";
import {
  cardsOf,
  type Card,
  createCardProtocol,
  decodeCards,
  decodeRecording,
  FINDINGS,
  recordingOfCards,
  reportOf,
} from "../../cards/index.ts";
import { decodeLine } from "../../cards/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { ANSWERER_ROUTES } from "../../roles/index.ts";
import type { Context } from "../context.ts";
import { Output } from "../output.ts";
import { Verdict } from "../verdict.ts";
import { addCardsOptions, type CardsOptions } from "./options.ts";
import { isList, textOf } from "./read.ts";
import { counted, table } from "./table.ts";

/** Of one kind. Nobody reads more. */
const MOST = 100;

export interface Validity {
  readonly file: string;
  readonly valid: boolean;
  readonly cards: number;
  readonly problems: number;
  /** What is wrong: each with its place. */
  readonly errors: readonly string[];
  /** What is allowed, and perhaps not meant. */
  readonly warnings: readonly string[];
}

export function cardsValidateCommand(context: Context): Command {
  return addCardsOptions(new Command("validate")).action(
    async (files: string[], { run, output }: CardsOptions) => {
      const found: Validity[] = [];
      for (const file of files)
        found.push(validate(await textOf(file, context.stdin), file === "-" ? "stdin" : file, run));
      const valid = found.every((one) => one.valid);
      if (output === "json") new Output(context.streams, output).document({ valid, files: found });
      else context.streams.out(found.map(validityText).join(""));
      if (!valid) throw new Verdict(1);
    },
  );
}

/** Looks at all of a file: its lines or cards, and whether the run keeps the promises of the protocol. */
export function validate(text: string, file: string, runId?: string): Validity {
  const malformed = isList(text) ? malformedCards(text, file) : malformedLines(text, file);
  if (malformed.length > 0)
    return { file, valid: false, cards: 0, problems: 0, errors: malformed, warnings: [] };
  try {
    const recording = isList(text)
      ? recordingOfCards(decodeCards(text, file))
      : decodeRecording(text, file, runId === undefined ? {} : { runId });
    const report = reportOf(recording);
    const cards = cardsOf(recording);
    const errors = [
      ...report.broken,
      ...report.findings.flatMap(({ kind, sample_id, what }) =>
        FINDINGS[kind].broken ? `${sample_id ?? "–"}: ${kind}: ${what}` : [],
      ),
      ...(report.ledger?.mismatches ?? []).map(
        ({ sample_id, role, card_ids }) => `${sample_id ?? "–"}: ledger: ${role}: ${card_ids.join(", ")}`,
      ),
    ];
    return {
      file,
      valid: errors.length === 0,
      cards: cards.length,
      problems: report.samples.total,
      errors: errors.slice(0, MOST),
      warnings: [
        ...report.torn.map(({ line, why }) => `${file}:${line}: a torn line (${why})`),
        ...report.unknown.map((what) => `not known: ${what}`),
        ...offProtocol(cards),
      ].slice(0, MOST),
    };
  } catch (error) {
    return {
      file,
      valid: false,
      cards: 0,
      problems: 0,
      errors: [A2AError.from(error).message],
      warnings: [],
    };
  }
}

function malformedLines(text: string, file: string): string[] {
  const errors: string[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "" || errors.length >= MOST) continue;
    try {
      decodeLine(line, `${file}:${index + 1}`);
    } catch (error) {
      errors.push(A2AError.from(error).message);
    }
  }
  return errors;
}

function malformedCards(text: string, file: string): string[] {
  try {
    decodeCards(text, file);
    return [];
  } catch (error) {
    const { message, violations } = A2AError.from(error);
    const all = violations.map(({ field, description }) => `${field} ${description}`);
    return all.length > 1 ? [message, ...all] : [message];
  }
}

/** The five types between the three roles, and whole problems for a solver, as the baselines have them. */
const CORE = createCardProtocol({ routes: ANSWERER_ROUTES });

/** Roles, types and ways that only a protocol of the user's own has: each once. */
function offProtocol(cards: readonly Card[]): string[] {
  const found = cards.flatMap((card) =>
    CORE.validate(card).map(({ field, description }) => `${field} ${description}`),
  );
  const counts = Map.groupBy(found, (what) => what);
  return [...counts].map(
    ([what, { length }]) => `not in the core protocol (${counted(length, "card")}): ${what}`,
  );
}

function validityText({ file, valid, cards, problems, errors, warnings }: Validity): string {
  const head = valid
    ? `${file}: valid, ${counted(cards, "card")}, ${counted(problems, "problem")}`
    : `${file}: not valid`;
  return table([
    [head],
    ...errors.map((error) => [`  error: ${error}`]),
    ...warnings.map((warning) => [`  note: ${warning}`]),
  ]);
}
