/** THE ROUTER: which paragraphs a subtask needs, by words alone. */
export { wordsOf } from "./bm25.ts";
export { ParagraphRouter } from "./router.ts";
