import { toTraceHeaders } from "../../protocol/index.ts";
import { getCurrentTraceScope } from "../../observe/telemetry/index.ts";

type FetchFunction = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Returns a function that fetches with the headers of the current trace. MCP servers read the trace from `_meta`, but
 * servers in front of them only know the headers.
 */
export function createFetchWithTraceHeaders(fetchFunction: FetchFunction): FetchFunction {
  return (url, init) => {
    const scope = getCurrentTraceScope();
    if (!scope) return fetchFunction(url, init);
    const headers = new Headers(init?.headers);
    if (!headers.has("traceparent"))
      for (const [name, value] of Object.entries(toTraceHeaders(scope.context))) headers.set(name, value);
    return fetchFunction(url, { ...init, headers });
  };
}
