/** Retrieval: selects the paragraphs for a subtask by word statistics, without a model. */
export { tokenizeWords } from "./bm25-index.ts";
export { ParagraphRanker } from "./paragraph-ranker.ts";
