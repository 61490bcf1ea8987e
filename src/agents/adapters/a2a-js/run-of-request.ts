import type { RequestContext } from "@a2a-js/sdk/server";
import type { Run } from "../../../engine/index.ts";

const runsByRequest = new WeakMap<RequestContext, Run>();

/** Registers the run that executes a request, and returns the request. */
export function registerRunOfRequest(request: RequestContext, run: Run): RequestContext {
  runsByRequest.set(request, run);
  return request;
}

/**
 * Returns the run that executes the request of an executor, for example for `once` and `sleep`. Throws an error if the
 * request comes from another server than Colloquy.
 */
export function getRunOfRequest(request: RequestContext): Run {
  const run = runsByRequest.get(request);
  if (run) return run;
  throw new TypeError(
    "No run of Colloquy executes this request. Pass the RequestContext that `execute` received, and serve the executor with fromExecutor.",
  );
}
