import type { TaskCard } from "../../cards/index.ts";
import { documentsOf, otherContext } from "../documents.ts";
import type { Finding } from "../model.ts";
import { MOST_OF_AN_ANSWER, quote, QUOTES } from "../quote.ts";
import type { ActionName } from "./action.ts";
import type { ContextPolicy } from "./context-policy.ts";

/** What the planner is, and how it has to answer. `quotes`: there will be text of others. */
export function instructions(
  actions: readonly ActionName[],
  policy: ContextPolicy,
  { documents, quotes }: { readonly documents: boolean; readonly quotes: boolean },
): string {
  const routed = documents && policy === "routed";
  const sees = routed
    ? "your subtask and the documents that you name"
    : documents && policy === "full"
      ? "your subtask and all documents"
      : "your subtask";
  return [
    `You plan, a solver works: it sees only ${sees}. Put in every number and name that it needs; ask for a number or a short sentence.`,
    "Reply with one JSON object:",
    ...actions.map((action) => (routed ? WITH_DOCUMENTS[action] : undefined) ?? FORMS[action]),
    ...(quotes ? [QUOTES] : []),
  ].join("\n");
}

const FORMS: Record<ActionName, string> = {
  call_solver: '{"action":"call_solver","subtask":"…"}',
  call_solvers:
    '{"action":"call_solvers","subtasks":[{"id":"s1","task":"…"},{"id":"s2","task":"… {s1} …"}]} where {s1} is the answer to s1; independent ones run at once',
  final_answer: '{"action":"final_answer","answer":"…"} with only the number, name or few words asked for',
};

const WITH_DOCUMENTS: Partial<Record<ActionName, string>> = {
  call_solver: '{"action":"call_solver","subtask":"…","documents":["title", …]}',
  call_solvers:
    '{"action":"call_solvers","subtasks":[{"id":"s1","task":"…","documents":["title", …]},{"id":"s2","task":"… {s1} …","documents":["title", …]}]} where {s1} is the answer to s1; independent ones run at once',
};

/** The problem, with as much of its context as the planner may see. */
export function problem(task: TaskCard, policy: ContextPolicy): string {
  const documents = documentsOf(task.metadata.context);
  const other = otherContext(task.metadata.context);
  const lines = [`Problem: ${task.content}`];
  if (other) lines.push(`Context: ${JSON.stringify(other)}`);
  if (documents.length > 0) {
    // Whoever has the work done needs to know what there is; unless the solver is shown nothing of it.
    const titlesOnly = policy !== "none";
    lines.push(
      "Documents:",
      ...documents.map(({ id, title, sentences }) => {
        const name = id === title ? quote(title) : `${quote(id)}, ${quote(title)}`;
        return titlesOnly ? `- ${name}` : `- ${name}: ${quote(sentences.join(" "))}`;
      }),
    );
  }
  return lines.join("\n");
}

/** What solvers found, numbered from `first`. */
export function found(findings: readonly Finding[], first = 1): string {
  return [
    "Found:",
    ...findings.map(({ subtask, status, answer, documents }, index) => {
      const from = documents ? ` (from ${documents.map((title) => quote(title)).join(", ")})` : "";
      const said = quote(answer, MOST_OF_AN_ANSWER);
      const end = { success: "", completed: "", partial: " (incomplete)", error: " (failed)" }[status];
      return `${first + index}. ${quote(subtask, MOST_OF_AN_ANSWER)}${from} → ${said}${end}`;
    }),
  ].join("\n");
}

/** Where the planner is, and what it may do. */
export function where(
  turn: number,
  turns: number,
  callsLeft: number,
  actions: readonly ActionName[],
): string {
  if (actions.length === 1 && actions[0] === "final_answer")
    return `Turn ${turn} of ${turns}, the last: give your final_answer, as well as you can.`;
  const calls =
    callsLeft < 1_000 ? ` You may give ${callsLeft} more subtask${callsLeft === 1 ? "" : "s"}.` : "";
  const begin = actions.includes("final_answer") ? "" : " Do not answer yet.";
  return `Turn ${turn} of ${turns}.${calls}${begin}`;
}

/** Asks again after a reply that was of no use. */
export function again(problem: string): string {
  return `That cannot be used: ${problem}. Reply again, with one JSON object.`;
}
