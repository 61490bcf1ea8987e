/** Functions that select paragraphs for a subtask from word statistics instead of with a language model. */
export { tokenizeWords } from "./bm25-index.ts";
export { ParagraphRanker } from "./paragraph-ranker.ts";
