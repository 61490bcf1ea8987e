import { type Paragraph, ParagraphRouter } from "../../cards/index.ts";
import { wordsOf } from "../../cards/index.ts";
import { documentsOf } from "../documents.ts";
import type { ModelRequest, PlanStep, RoleModel } from "../model.ts";
import { scripted } from "./scripted.ts";

export interface HeuristicOptions {
  /**
   * What the second paragraph is chosen by, beside the question: the `answer` of the solver, which is a sentence (the
   * default); all of the first `paragraph`, as if the planner had read it; `nothing`.
   */
  readonly secondHop?: "answer" | "paragraph" | "nothing";
}

/**
 * HotpotQA without a model and without gold: the planner routes to two paragraphs by BM25, one after the other, the solver
 * takes the sentence that has most of the question's words. It shows what chaining is worth for finding paragraphs; its
 * answers are sentences, and poor ones.
 */
export function heuristicHotpot({ secondHop = "answer" }: HeuristicOptions = {}): RoleModel {
  const reply = ({ step }: ModelRequest): string => {
    if (step.kind === "plan") return JSON.stringify(plan(step, secondHop));
    return extract(step.task.content, documentsOf(step.task.metadata.context));
  };
  const id = `heuristic:bm25${{ answer: "", paragraph: ":paragraph", nothing: ":one-hop" }[secondHop]}`;
  return scripted(reply, { id, evidence: "heuristic" });
}

function plan({ task, findings, turn, turns, callsLeft = Infinity }: PlanStep, secondHop: string): object {
  const paragraphs = documentsOf(task.metadata.context);
  const router = new ParagraphRouter(paragraphs);
  const [first, alone] = router.byQuestion(task.content);
  const last = findings.at(-1);
  const mayCall = turn < turns && callsLeft > 0;
  if (mayCall && findings.length === 0)
    return { action: "call_solver", subtask: task.content, ...(first && { documents: [first.title] }) };
  const known = paragraphs.find(({ title }) => title === last?.documents?.[0]);
  const found = secondHop === "answer" ? last?.answer : undefined;
  const second = secondHop === "nothing" || !known ? alone : router.after(task.content, known, found)[0];
  if (mayCall && findings.length === 1 && second)
    return { action: "call_solver", subtask: task.content, documents: [second.title] };
  const best = findings.findLast(({ status }) => status === "success") ?? last;
  return { action: "final_answer", answer: best?.answer ?? "Not found" };
}

/** The sentence with most words of the question; of equals the earlier. */
function extract(question: string, paragraphs: readonly Paragraph[]): string {
  const asked = new Set(wordsOf(question));
  let best = { shared: 0, sentence: "Not found" };
  for (const sentence of paragraphs.flatMap(({ sentences }) => sentences)) {
    const shared = new Set(wordsOf(sentence).filter((word) => asked.has(word))).size;
    if (shared > best.shared) best = { shared, sentence: sentence.trim() };
  }
  return best.sentence;
}
