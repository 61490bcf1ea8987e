import type { MountedHandler } from "../../src/server/index.ts";

/**
 * Serves JSON-RPC at `/jsonrpc` and `/jsonrpc/` too. The launcher of the ITK posts its first message to that
 * path without reading the agent card.
 */
export const itkJsonRpcRoute: MountedHandler = {
  matchesPath: (path) => path === "/jsonrpc" || path === "/jsonrpc/",
  handle: async (request, createCallerAgentAccess) => {
    const { url, fetch } = await createCallerAgentAccess();
    return await fetch(new Request(url, request));
  },
};
