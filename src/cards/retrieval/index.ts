/** Functions that select paragraphs for a subtask by word statistics, without a language model. */
export { tokenizeWords } from "./bm25-index.ts";
export { ParagraphRanker } from "./paragraph-ranker.ts";
