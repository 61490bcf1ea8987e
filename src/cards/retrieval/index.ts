/** THE ROUTER: which paragraphs a subtask needs, by words alone. */
export { tokenizeWords } from "./bm25-index.ts";
export { ParagraphRanker } from "./paragraph-ranker.ts";
