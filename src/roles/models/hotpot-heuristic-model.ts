import { type Paragraph, ParagraphRanker } from "../../cards/index.ts";
import { tokenizeWords } from "../../cards/index.ts";
import { parseDocuments } from "../context-documents.ts";
import type { ModelRequest, PlanInput, RoleModel } from "../role-model.ts";
import { createScriptedModel } from "./scripted-model.ts";

export interface HotpotHeuristicOptions {
  /**
   * What the second paragraph is chosen by, beside the question: the `answer` of the solver, which is a sentence (the
   * default); all of the first `paragraph`, as if the planner had read it; `nothing`.
   */
  readonly secondHopSource?: "answer" | "paragraph" | "nothing";
}

/**
 * HotpotQA without a model and without gold: the planner routes to two paragraphs by BM25, one after the other, the solver
 * takes the sentence that has most of the question's words. It shows what chaining is worth for finding paragraphs; its
 * answers are sentences, and poor ones.
 */
export function createHotpotHeuristicModel({
  secondHopSource = "answer",
}: HotpotHeuristicOptions = {}): RoleModel {
  const reply = ({ input }: ModelRequest): string => {
    if (input.kind === "plan") return JSON.stringify(planNextAction(input, secondHopSource));
    return extractBestSentence(input.task.content, parseDocuments(input.task.metadata.context));
  };
  const id = `heuristic:bm25${{ answer: "", paragraph: ":paragraph", nothing: ":one-hop" }[secondHopSource]}`;
  return createScriptedModel(reply, { id, evidenceKind: "heuristic" });
}

function planNextAction(
  { task, findings, turn, maxTurns, solverCallsLeft = Infinity }: PlanInput,
  secondHop: string,
): object {
  const paragraphs = parseDocuments(task.metadata.context);
  const router = new ParagraphRanker(paragraphs);
  const [first, alone] = router.rankByQuestion(task.content);
  const last = findings.at(-1);
  const mayCall = turn < maxTurns && solverCallsLeft > 0;
  if (mayCall && findings.length === 0)
    return { action: "call_solver", subtask: task.content, ...(first && { documents: [first.title] }) };
  const known = paragraphs.find(({ title }) => title === last?.documentTitles?.[0]);
  const found = secondHop === "answer" ? last?.answer : undefined;
  const second =
    secondHop === "nothing" || !known ? alone : router.rankSecondHop(task.content, known, found)[0];
  if (mayCall && findings.length === 1 && second)
    return { action: "call_solver", subtask: task.content, documents: [second.title] };
  const best = findings.findLast(({ status }) => status === "success") ?? last;
  return { action: "final_answer", answer: best?.answer ?? "Not found" };
}

/** The sentence with most words of the question; of equals the earlier. */
function extractBestSentence(question: string, paragraphs: readonly Paragraph[]): string {
  const questionWords = new Set(tokenizeWords(question));
  let best = { shared: 0, sentence: "Not found" };
  for (const sentence of paragraphs.flatMap(({ sentences }) => sentences)) {
    const shared = new Set(tokenizeWords(sentence).filter((word) => questionWords.has(word))).size;
    if (shared > best.shared) best = { shared, sentence: sentence.trim() };
  }
  return best.sentence;
}
