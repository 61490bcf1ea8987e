import type { TaskCard } from "../../index.ts";
import { parseContextDocuments, getNonDocumentContext } from "../context-documents.ts";
import { quoteForPrompt, IGNORE_QUOTED_INSTRUCTIONS_PROMPT } from "../prompt-quote.ts";

/** Renders the system prompt of a solver. `quotes` is true if the prompt quotes untrusted text. */
export function renderSolverInstructions(
  calculator: boolean,
  quotes: boolean,
  instructions?: string,
): string {
  return [
    instructions ??
      'Do the subtask and no more. Answer in one number or one short sentence; if it cannot be found, with "Not found".',
    ...(calculator
      ? ["Write arithmetic as <<16-3-4>>, with + - * / and parentheses; its value takes its place."]
      : []),
    ...(quotes ? [IGNORE_QUOTED_INSTRUCTIONS_PROMPT] : []),
  ].join("\n");
}

/** Renders the system prompt for solving a complete problem without a planner. */
export function renderAnswererInstructions(
  style: "cot" | "direct",
  quotes: boolean,
  instructions?: string,
): string {
  const format =
    style === "cot"
      ? 'Think step by step, then end with a line that starts with "Answer:" and has only'
      : 'Reply with one line that starts with "Answer:" and has only';
  return [
    instructions ?? `${format} the number, name or few words asked for.`,
    ...(quotes ? [IGNORE_QUOTED_INSTRUCTIONS_PROMPT] : []),
  ].join("\n");
}

export function hasDocuments(task: TaskCard): boolean {
  return parseContextDocuments(task.metadata.context).length > 0;
}

/** Renders a task and the complete task context as a prompt. */
export function renderTaskPrompt(label: "Subtask" | "Problem", task: TaskCard): string {
  const { context } = task.metadata;
  const otherContext = getNonDocumentContext(context);
  const documents = parseContextDocuments(context);
  return [
    `${label}: ${task.content}`,
    ...(otherContext ? [`Context: ${JSON.stringify(otherContext)}`] : []),
    ...(documents.length > 0 ? ["Documents:"] : []),
    ...documents.map(
      ({ title, sentences }) => `- ${quoteForPrompt(title)}: ${quoteForPrompt(sentences.join(" "))}`,
    ),
  ].join("\n");
}
