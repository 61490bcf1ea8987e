import type { Script, ScriptFunctionInput, ScriptedReply, ScriptedStep } from "../../agents/adk/index.ts";
import { EXPENSE_APPROVAL_THRESHOLD } from "./assistant.ts";
import { isUnit } from "./units.ts";

const ASSISTANT_HELP_TEXT =
  "I can calculate (try: what is 12.5% of 80?), convert units (try: 10 km in miles), " +
  `and reimburse expenses (try: reimburse 150 euros for a taxi). Expenses above ${EXPENSE_APPROVAL_THRESHOLD} euros need approval.`;

/** The script ignores the rest of a longer request, because some of its patterns take quadratic time. */
const MAX_REQUEST_CHARACTERS = 2_000;

/**
 * Scripted replacement for a language model, for a demo without an API key. The rules of the script parse
 * the user's request, choose the tools to call, and turn the results of the tools into sentences. The tools
 * do all arithmetic and unit conversion.
 */
export const assistantModelScript: Script = (input: ScriptFunctionInput): ScriptedReply => {
  if (input.results.length > 0) return buildToolResultReply(input);
  const calls = splitClauses(input.text.slice(0, MAX_REQUEST_CHARACTERS)).flatMap(
    (clause): ScriptedStep[] => parseClauseIntoToolCalls(clause) ?? [],
  );
  return calls.length > 0 ? calls : ASSISTANT_HELP_TEXT;
};

/** Splits a message into clauses. For example, “what is 2 + 2, and 5 km in miles?” has two clauses. */
function splitClauses(text: string): string[] {
  return text.split(/[?;\n]|,\s|\b(?:and|then|plus also)\b/i).filter((clause) => clause.trim() !== "");
}

function parseClauseIntoToolCalls(clause: string): ScriptedStep[] | undefined {
  return parseExpense(clause) ?? parseUnitConversion(clause) ?? parseCalculation(clause);
}

function parseExpense(clause: string): ScriptedStep[] | undefined {
  if (!/reimburs|refund|expense|pay back/i.test(clause)) return undefined;
  const amount = Number(/\d+(?:\.\d+)?/.exec(clause)?.[0] ?? 0);
  const marker = /\bfor\s/i.exec(clause);
  const purpose = (marker && clause.slice(marker.index + marker[0].length).trim()) || "an expense";
  return [
    {
      call: amount > EXPENSE_APPROVAL_THRESHOLD ? "request_approval" : "reimburse",
      args: { amount, purpose },
    },
  ];
}

function parseUnitConversion(clause: string): ScriptedStep[] | undefined {
  const match = /(-?\d+(?:\.\d+)?)\s*([a-z°/]+[23]?)\s+(?:to|in|into|as)\s+([a-z°/]+[23]?)/i.exec(clause);
  const [, value, from, to] = match ?? [];
  if (!value || !from || !to || !isUnit(from) || !isUnit(to)) return undefined;
  return [{ call: "convert_units", args: { value: Number(value), from, to } }];
}

function parseCalculation(clause: string): ScriptedStep[] | undefined {
  const normalized = clause
    .replace(/(\d+(?:\.\d+)?)\s*(?:%|percent)\s+of\s+/gi, "$1/100*")
    .replaceAll(/\b(?:times|multiplied by)\b/gi, "*")
    .replaceAll(/\bdivided by\b/gi, "/")
    .replaceAll(/\bplus\b/gi, "+")
    .replaceAll(/\bminus\b/gi, "-")
    .replaceAll(/(?<=\d)\s*x\s*(?=\d)/gi, "*");
  // Finds the longest run of expression characters. A single number is not an expression.
  const runs =
    normalized.match(/(?:[-+*/^%().\d\s×÷]|sqrt|abs|sin|cos|tan|log|ln|exp|round|floor|ceil|pi\b)+/gi) ?? [];
  const expression = runs
    .map((run) => run.trim())
    .toSorted((a, b) => b.length - a.length)
    .find((run) => /\d/.test(run) && /[-+*/^%×÷]|[a-z]/i.test(run));
  return expression === undefined
    ? undefined
    : [{ call: "calculate", args: { expression: expression.replace(/\.$/, "") } }];
}

function buildToolResultReply({ results, request }: ScriptFunctionInput): ScriptedReply {
  const steps: ScriptedStep[] = [];
  const sentences: string[] = [];
  for (const { name, response = {} } of results) {
    if (typeof response["error"] === "string") sentences.push(response["error"]);
    else if (name === "calculate")
      sentences.push(`${String(response["expression"])} = ${String(response["value"])}.`);
    else if (name === "convert_units")
      sentences.push(`${String(response["from"])} = ${String(response["to"])}.`);
    else if (name === "reimburse") sentences.push(`Paid: ${String(response["receipt"])}.`);
    else if (response["status"] === "pending") sentences.push("That needs approval. I have requested it.");
    else if (response["approved"] === true)
      steps.push({ call: "reimburse", args: findApprovedExpenseArgs(request) });
    else sentences.push("That was not approved, so nothing is paid.");
  }
  return steps.length > 0 ? steps : sentences.join(" ");
}

/** Returns the arguments of the last approval request. An approval contains only a decision. */
function findApprovedExpenseArgs({ contents }: ScriptFunctionInput["request"]): Record<string, unknown> {
  const calls = contents.flatMap(({ parts }) =>
    (parts ?? []).flatMap(({ functionCall }) => functionCall ?? []),
  );
  return calls.findLast(({ name }) => name === "request_approval")?.args ?? {};
}
