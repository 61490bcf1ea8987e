import type { Guard } from "./guard.ts";

/** Guards of the page of the console against content of strangers. */
export const PAGE_GUARDS: readonly Guard[] = [
  {
    name: "markdown-delimiters",
    file: "src/studio/pages/worker/convert-markdown.ts",
    find: "return cost > MAX_DELIMITER_COST;",
    replace: "return false;",
    noticedBy: { attack: "hostile-markdown" },
  },
  {
    name: "markdown-nesting",
    file: "src/studio/pages/worker/convert-markdown.ts",
    find: " || NESTED_MARKERS_PATTERN.test(text)",
    replace: "",
    noticedBy: { attack: "hostile-markdown" },
  },
  {
    name: "markdown-link-length",
    file: "src/studio/pages/worker/convert-markdown.ts",
    find: "if (budget.linkLength < 0) return false;",
    replace: "",
    noticedBy: { attack: "hostile-markdown" },
  },
  {
    name: "markdown-elements",
    file: "src/studio/pages/worker/convert-markdown.ts",
    find: "budget.tokens < 0 || ",
    replace: "",
    noticedBy: { test: "src/studio/pages/worker/convert-markdown.test.ts" },
  },
  {
    name: "worker-deadline",
    file: "src/studio/pages/worker/worker-queue.ts",
    find: "this.#environment.schedule(WORKER_DEADLINE_MS, () => this.#giveUp());",
    replace: "(): void => {};",
    noticedBy: { test: "src/studio/pages/worker/worker-queue.test.ts" },
  },
];
