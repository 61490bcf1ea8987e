import type { TaskCard } from "../../index.ts";
import { parseContextDocuments, getNonDocumentContext } from "../context-documents.ts";
import type { SolverFinding } from "../role-model.ts";
import { MAX_ANSWER_CHARACTERS, quoteForPrompt, IGNORE_QUOTED_INSTRUCTIONS_PROMPT } from "../prompt-quote.ts";
import type { PlannerActionName } from "./planner-action.ts";
import type { SubtaskDocumentContextPolicy } from "./subtask-document-context-policy.ts";

/** Renders the planner's instructions for the model. `quotes` is true if the prompt quotes untrusted text. */
export function renderInstructions(
  actions: readonly PlannerActionName[],
  policy: SubtaskDocumentContextPolicy,
  { documents, quotes }: { readonly documents: boolean; readonly quotes: boolean },
  instructions?: string,
): string {
  const routed = documents && policy === "routed";
  const visibleContext = routed
    ? "your subtask and the documents that you name"
    : documents && policy === "full"
      ? "your subtask and all documents"
      : "your subtask";
  return [
    instructions ??
      `You plan, a solver works: it sees only ${visibleContext}. Put in every number and name that it needs; ask for a number or a short sentence.`,
    "Reply with one JSON object:",
    ...actions.map(
      (action) => (routed ? ACTION_FORMATS_WITH_DOCUMENTS[action] : undefined) ?? ACTION_FORMATS[action],
    ),
    ...(quotes ? [IGNORE_QUOTED_INSTRUCTIONS_PROMPT] : []),
  ].join("\n");
}

// The formats contain no complete JSON values, because small models copy such values into their replies.
const ACTION_FORMATS: Record<PlannerActionName, string> = {
  call_solver: '{"action":"call_solver","subtask":TEXT}',
  call_solvers:
    '{"action":"call_solvers","subtasks":[{"id":"s1","task":TEXT},{"id":"s2","task":TEXT}]} where {s1} in a later task is the answer to s1; independent ones run at once',
  final_answer: '{"action":"final_answer","answer":TEXT} with only the number, name or few words asked for',
};

const ACTION_FORMATS_WITH_DOCUMENTS: Partial<Record<PlannerActionName, string>> = {
  call_solver: '{"action":"call_solver","subtask":TEXT,"documents":[TITLE]}',
  call_solvers:
    '{"action":"call_solvers","subtasks":[{"id":"s1","task":TEXT,"documents":[TITLE]},{"id":"s2","task":TEXT,"documents":[TITLE]}]} where {s1} in a later task is the answer to s1; independent ones run at once',
};

/** Renders the problem and the parts of the task context that the planner may see. */
export function renderProblem(task: TaskCard, policy: SubtaskDocumentContextPolicy): string {
  const documents = parseContextDocuments(task.metadata.context);
  const otherContext = getNonDocumentContext(task.metadata.context);
  const lines = [`Problem: ${task.content}`];
  if (otherContext) lines.push(`Context: ${JSON.stringify(otherContext)}`);
  if (documents.length > 0) {
    // The planner sees only titles, unless the solver receives no documents.
    const titlesOnly = policy !== "none";
    lines.push(
      "Documents:",
      ...documents.map(({ id, title, sentences }) => {
        const name = id === title ? quoteForPrompt(title) : `${quoteForPrompt(id)}, ${quoteForPrompt(title)}`;
        return titlesOnly ? `- ${name}` : `- ${name}: ${quoteForPrompt(sentences.join(" "))}`;
      }),
    );
  }
  return lines.join("\n");
}

/** Renders a list of solver findings, numbered from `first`. */
export function renderFindings(findings: readonly SolverFinding[], first = 1): string {
  return [
    "Found:",
    ...findings.map(({ subtask, status, answer, documentTitles }, index) => {
      const from = documentTitles
        ? ` (from ${documentTitles.map((title) => quoteForPrompt(title)).join(", ")})`
        : "";
      const quotedAnswer = quoteForPrompt(answer, MAX_ANSWER_CHARACTERS);
      const end = { success: "", completed: "", partial: " (incomplete)", error: " (failed)" }[status];
      return `${first + index}. ${quoteForPrompt(subtask, MAX_ANSWER_CHARACTERS)}${from} → ${quotedAnswer}${end}`;
    }),
  ].join("\n");
}

/** Renders the number of the current turn and the allowed actions. */
export function renderTurnStatusPrompt(
  turn: number,
  turns: number,
  callsLeft: number,
  actions: readonly PlannerActionName[],
): string {
  if (actions.length === 1 && actions[0] === "final_answer")
    return `Turn ${turn} of ${turns}, the last: give your final_answer, as well as you can.`;
  const calls =
    callsLeft < 1_000 ? ` You may give ${callsLeft} more subtask${callsLeft === 1 ? "" : "s"}.` : "";
  const begin = actions.includes("final_answer") ? "" : " Do not answer yet.";
  return `Turn ${turn} of ${turns}.${calls}${begin}`;
}

/** Renders the text that asks the model for a new reply after an unusable one. */
export function renderReprompt(problem: string): string {
  return `That cannot be used: ${problem}. Reply again, with one JSON object.`;
}
