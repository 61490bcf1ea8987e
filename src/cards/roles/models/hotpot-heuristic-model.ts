import { defineOptionNames } from "../../../base/usage-checks/index.ts";
import { type Paragraph, ParagraphRanker, tokenizeWords } from "../../index.ts";
import { parseContextDocuments } from "../context-documents.ts";
import type { ModelRequest, PlannerModelInput, RoleModel } from "../role-model.ts";
import { createScriptedModel } from "./scripted-model.ts";

/** Options for `createHotpotHeuristicModel`. */
export interface HotpotHeuristicOptions {
  /**
   * Text that the planner adds to the question to select the second paragraph. The planner adds the first
   * answer (`answer`), the first paragraph (`paragraph`), or no text (`nothing`). Default: `answer`.
   */
  readonly secondHopSource?: "answer" | "paragraph" | "nothing";
}

const assertKnownOptions = defineOptionNames<HotpotHeuristicOptions>()(
  "createHotpotHeuristicModel",
  "secondHopSource",
);

/**
 * Creates a model for HotpotQA that uses neither a language model nor the gold answers. As a planner, the
 * HotpotQA model selects two paragraphs in sequence by BM25. As a solver, the HotpotQA model returns the
 * sentence that shares the most words with the question. The results show how much sequential subtasks help
 * to find the right paragraphs. The HotpotQA model answers with entire sentences, so its answers have low
 * scores.
 */
export function createHotpotHeuristicModel(options: HotpotHeuristicOptions = {}): RoleModel {
  assertKnownOptions(options);
  const { secondHopSource = "answer" } = options;
  const reply = ({ input }: ModelRequest): string => {
    if (input.kind === "plan") return JSON.stringify(chooseHotpotPlannerAction(input, secondHopSource));
    return extractBestSentence(input.task.content, parseContextDocuments(input.task.metadata.context));
  };
  const id = `heuristic:bm25${{ answer: "", paragraph: ":paragraph", nothing: ":one-hop" }[secondHopSource]}`;
  return createScriptedModel(reply, { id, evidenceKind: "heuristic" });
}

function chooseHotpotPlannerAction(
  { task, findings, turn, maxTurns, solverCallsLeft = Infinity }: PlannerModelInput,
  secondHop: string,
): object {
  const paragraphs = parseContextDocuments(task.metadata.context);
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

/**
 * Returns the sentence that shares the most words with the question. If several sentences share equally many
 * words, the function returns the first of them.
 */
function extractBestSentence(question: string, paragraphs: readonly Paragraph[]): string {
  const questionWords = new Set(tokenizeWords(question));
  let best = { shared: 0, sentence: "Not found" };
  for (const sentence of paragraphs.flatMap(({ sentences }) => sentences)) {
    const shared = new Set(tokenizeWords(sentence).filter((word) => questionWords.has(word))).size;
    if (shared > best.shared) best = { shared, sentence: sentence.trim() };
  }
  return best.sentence;
}
