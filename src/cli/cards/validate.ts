import { Command } from "commander";
import {
  type MessageCard,
  type Recording,
  createCardProtocol,
  listCardJson,
  parseCard,
  decodeMessageCardArray,
  decodeRecordLines,
  buildRunReport,
} from "../../cards/index.ts";
import { A2AError } from "../../protocol/index.ts";
import { BASELINE_ANSWERER_CARD_ROUTES } from "../../cards/roles/index.ts";
import type { CliContext } from "../cli-context.ts";
import { OutputWriter } from "../output-writer.ts";
import { ExitCodeError } from "../exit-code-error.ts";
import { addCardsCommandOptions, type CardsCommandOptions } from "./cards-command-options.ts";
import { decodeRunText, isMessageCardListText, readFileOrStdin } from "./read-runs.ts";
import { pluralize, renderTable } from "./text-table.ts";

/** Maximum number of messages in each list of the validation result: errors and warnings. */
const MAX_VALIDATION_MESSAGES = 100;

interface ValidationReport {
  readonly file: string;
  readonly valid: boolean;
  readonly cards: number;
  readonly problems: number;
  /** Violations of the card protocol, each with its position in the file. */
  readonly errors: readonly string[];
  /** Warnings about content that is valid but possibly unintended. */
  readonly warnings: readonly string[];
}

export function createCardsValidateCommand(context: CliContext): Command {
  return addCardsCommandOptions(new Command("validate")).action(
    async (files: string[], { run, output }: CardsCommandOptions) => {
      const found: ValidationReport[] = [];
      for (const file of files)
        found.push(
          validateRunFile(await readFileOrStdin(file, context.stdin), file === "-" ? "stdin" : file, run),
        );
      const valid = found.every((one) => one.valid);
      if (output === "json") new OutputWriter(context.streams, output).writeJson({ valid, files: found });
      else context.streams.out(found.map(renderValidationReport).join(""));
      if (!valid) throw new ExitCodeError(1);
    },
  );
}

/** Validates each line or message card of a file, and checks the entire run against the card protocol. */
function validateRunFile(text: string, file: string, runId?: string): ValidationReport {
  const invalid = { file, valid: false, cards: 0, problems: 0, warnings: [] };
  const malformed = isMessageCardListText(text)
    ? findMalformedCardsInList(text, file)
    : findMalformedLines(text, file);
  if (malformed.length > 0) return { ...invalid, errors: malformed };
  let recording: Recording;
  try {
    recording = decodeRunText(text, file, runId);
  } catch (error) {
    return { ...invalid, errors: [A2AError.from(error).message] };
  }
  const { cards } = recording;
  const { broken, violations, ledger, samples, torn, unknown } = buildRunReport(recording);
  const mismatches = (ledger?.mismatches ?? []).map(
    ({ sample_id, role, card_ids }) => `${sample_id ?? "–"}: ledger: ${role}: ${card_ids.join(", ")}`,
  );
  const errors = [...broken, ...violations, ...mismatches];
  const warnings = [
    ...torn.map(({ line, why }) => `${file}:${line}: a torn line (${why})`),
    ...unknown.map((message) => `not known: ${message}`),
    ...listCoreProtocolDeviations(cards),
  ];
  return {
    file,
    valid: errors.length === 0,
    cards: cards.length,
    problems: samples.total,
    errors: errors.slice(0, MAX_VALIDATION_MESSAGES),
    warnings: warnings.slice(0, MAX_VALIDATION_MESSAGES),
  };
}

function findMalformedLines(text: string, file: string): string[] {
  const errors: string[] = [];
  for (const { number, line } of decodeRecordLines(text)) {
    if (errors.length >= MAX_VALIDATION_MESSAGES) break;
    if ("torn" in line) {
      // The report lists lines that are no JSON. A killed process leaves one.
      if (/^[\w-]+ line: /.test(line.torn)) errors.push(`${file}:${number}: ${line.torn}`);
      continue;
    }
    for (const json of listCardJson(line))
      try {
        parseCard(json);
      } catch (error) {
        errors.push(`${file}:${number}: ${A2AError.from(error).message}`);
      }
  }
  return errors;
}

function findMalformedCardsInList(text: string, file: string): string[] {
  try {
    decodeMessageCardArray(text, file);
    return [];
  } catch (error) {
    const { message, violations } = A2AError.from(error);
    const messages = violations.map(({ field, description }) => `${field} ${description}`);
    return messages.length > 1 ? [message, ...messages] : [message];
  }
}

/** Standard card protocol with additional routes for baselines, which send complete problems to a solver. */
const CORE_CARD_PROTOCOL = createCardProtocol({ routes: BASELINE_ANSWERER_CARD_ROUTES });

/**
 * Returns all roles, card types, and routes that the standard card protocol does not contain, without
 * duplicates.
 */
function listCoreProtocolDeviations(cards: readonly MessageCard[]): string[] {
  const found = cards.flatMap((card) =>
    CORE_CARD_PROTOCOL.validate(card).map(({ field, description }) => `${field} ${description}`),
  );
  const counts = Map.groupBy(found, (message) => message);
  return [...counts].map(
    ([message, { length }]) => `not in the core protocol (${pluralize(length, "card")}): ${message}`,
  );
}

function renderValidationReport({
  file,
  valid,
  cards,
  problems,
  errors,
  warnings,
}: ValidationReport): string {
  const head = valid
    ? `${file}: valid, ${pluralize(cards, "card")}, ${pluralize(problems, "problem")}`
    : `${file}: not valid`;
  return renderTable([
    [head],
    ...errors.map((error) => [`  error: ${error}`]),
    ...warnings.map((warning) => [`  note: ${warning}`]),
  ]);
}
