import type { TaskCard } from "../../cards/index.ts";
import { documentsOf, otherContext } from "../documents.ts";
import { quote, QUOTES } from "../quote.ts";

/** What a solver is, and how it has to answer. `quotes`: there will be text of others. */
export function solverInstructions(calculator: boolean, quotes: boolean): string {
  return [
    'Do the subtask and no more. Answer in one number or one short sentence; if it cannot be found, with "Not found".',
    ...(calculator
      ? ["Write arithmetic as <<16-3-4>>, with + - * / and parentheses; its value takes its place."]
      : []),
    ...(quotes ? [QUOTES] : []),
  ].join("\n");
}

/** How a whole problem has to be answered, without a planner. */
export function answererInstructions(style: "cot" | "direct", quotes: boolean): string {
  const how =
    style === "cot"
      ? 'Think step by step, then end with a line "Answer: …" that has only'
      : 'Reply with one line "Answer: …" that has only';
  return [`${how} the number, name or few words asked for.`, ...(quotes ? [QUOTES] : [])].join("\n");
}

export function hasDocuments(task: TaskCard): boolean {
  return documentsOf(task.metadata.context).length > 0;
}

/** A task with its whole context. */
export function taskText(label: "Subtask" | "Problem", task: TaskCard): string {
  const { context } = task.metadata;
  const other = otherContext(context);
  const documents = documentsOf(context);
  return [
    `${label}: ${task.content}`,
    ...(other ? [`Context: ${JSON.stringify(other)}`] : []),
    ...(documents.length > 0 ? ["Documents:"] : []),
    ...documents.map(({ title, sentences }) => `- ${quote(title)}: ${quote(sentences.join(" "))}`),
  ].join("\n");
}
