import { A2AError } from "../../protocol/index.ts";

type FetchFunction = (url: string | URL, init?: RequestInit) => Promise<Response>;

const MAX_REDIRECTS = 5;

/**
 * Returns a `fetch` function that follows redirects only within one origin, for example from `/mcp` to `/mcp/`. The
 * built-in `fetch` would also send the body and headers such as `x-api-key` to the other origin.
 */
export function createFetchWithinOrigin(fetchFunction: FetchFunction): FetchFunction {
  return async (url, init) => {
    let target = new URL(url);
    for (let redirects = 0; ; redirects++) {
      const response = await fetchFunction(target, { ...init, redirect: "manual" });
      // After other redirects, `fetch` would replace POST by GET, which no MCP server expects.
      const location = [307, 308].includes(response.status) ? response.headers.get("location") : null;
      if (location === null) return response;
      await response.body?.cancel();
      const next = URL.parse(location, target.href);
      if (next?.origin !== target.origin || redirects === MAX_REDIRECTS) {
        const message = `The MCP server at ${target.origin} redirects to ${(next?.origin ?? location).slice(0, 200)}. Use that URL if you trust it.`;
        throw new A2AError("INVALID_AGENT_RESPONSE", message);
      }
      target = next;
    }
  };
}
