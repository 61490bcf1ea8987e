/** THE ROUTER: which paragraphs a subtask needs, by words alone. */
export { Bm25, wordsOf } from "./bm25.ts";
export type { WordWeights } from "./bm25.ts";
export { ParagraphRouter } from "./router.ts";
