import { computeGraphLayout } from "../flow/graph-layout.ts";
import { convertMarkdown } from "./convert-markdown.ts";
import type { WorkerInput } from "./run-in-worker.ts";

/** The part of the global scope of a worker that the script uses. The types of the page describe a window. */
interface WorkerScope {
  addEventListener(type: "message", listener: (event: MessageEvent<WorkerInput>) => void): void;
  postMessage(result: unknown): void;
}

// The script of the workers of a page.
const scope = globalThis as unknown as WorkerScope;
scope.addEventListener("message", ({ data }) => {
  const result = "markdown" in data ? convertMarkdown(data.markdown) : computeGraphLayout(...data.graph);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no other origin
  scope.postMessage(result);
});
