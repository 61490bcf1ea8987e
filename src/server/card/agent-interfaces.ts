import type { AgentInterface } from "../../protocol/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";

/**
 * Returns the JSON-RPC and HTTP+JSON interfaces of an agent for each A2A version, in order of preference. The
 * JSON-RPC and HTTP+JSON interfaces have the same `url`. For HTTP+JSON, A2A 0.3 clients append `/v1/…` to
 * this `url`. A2A 0.3 interfaces have no `tenant`.
 */
export function buildHttpInterfaces(
  url: string,
  versions: readonly ProtocolVersion[],
  tenant: string | undefined,
): AgentInterface[] {
  return versions.flatMap((protocolVersion) => {
    const common = { protocolVersion, ...(tenant && protocolVersion === "1.0" ? { tenant } : {}) };
    return [
      { url, protocolBinding: "JSONRPC", ...common },
      { url, protocolBinding: "HTTP+JSON", ...common },
    ];
  });
}
