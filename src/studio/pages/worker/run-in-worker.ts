import type { computeGraphLayout, GraphLayout } from "../flow/graph-layout.ts";
import { WORKER_ELEMENT_ID, WORKER_POLICY_NAME } from "../page-data.ts";
import { WorkerQueue } from "./worker-queue.ts";

type GraphInput = Parameters<typeof computeGraphLayout>;

/** A message to a worker: Markdown, or the nodes and edges of a graph. */
export type WorkerInput = { readonly markdown: string } | { readonly graph: GraphInput };

/** The part of the Trusted Types API that the page uses, where a browser has it. */
interface TrustedTypes {
  createPolicy(
    name: string,
    rules: { createScriptURL: () => string },
  ): { createScriptURL(url: string): string };
}

// A graph does not delay texts.
const markdownQueue = createQueue<string>();
const graphQueue = createQueue<GraphLayout>();
let scriptUrl: string | undefined;

/**
 * Converts Markdown to HTML, see `convertMarkdown`. Calls `onResult` with `undefined` if the page must show the text as plain
 * text. The returned function cancels the request.
 */
export function convertMarkdownInWorker(
  markdown: string,
  onResult: (html: string | undefined) => void,
): () => void {
  return markdownQueue.add({ markdown }, onResult);
}

/** Computes the layout of a graph. Calls `onResult` with `undefined` if the layout takes too long. */
export function computeGraphLayoutInWorker(
  graph: GraphInput,
  onResult: (layout: GraphLayout | undefined) => void,
): () => void {
  return graphQueue.add({ graph }, onResult);
}

function createQueue<Result>(): WorkerQueue<WorkerInput, Result> {
  return new WorkerQueue<WorkerInput, Result>({
    startWorker: (onResult, onError) => {
      scriptUrl ??= createScriptUrl();
      const worker = new Worker(scriptUrl);
      worker.addEventListener("message", (event) => onResult(event.data as Result | undefined));
      worker.addEventListener("error", onError);
      return {
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has no other origin
        send: (input) => worker.postMessage(input),
        terminate: () => worker.terminate(),
      };
    },
    schedule: (ms, callback) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  });
}

/** Creates the URL of the script. The policy has this URL as its only result. */
function createScriptUrl(): string {
  const element = document.getElementById(WORKER_ELEMENT_ID);
  const url =
    element?.dataset["url"] ??
    URL.createObjectURL(new Blob([element?.textContent ?? ""], { type: "text/javascript" }));
  const { trustedTypes } = globalThis as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy(WORKER_POLICY_NAME, { createScriptURL: () => url });
  return policy?.createScriptURL("") ?? url;
}
