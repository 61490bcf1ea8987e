import type { AgentInterface } from "../../protocol/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";

/**
 * Where an agent is reached: each binding of each version that is served, the preferred one first. `url` is the same
 * for both HTTP bindings; clients of 0.3 append `/v1/…` to it themselves. 0.3 knows no `tenant`.
 */
export function buildHttpInterfaces(
  url: string,
  versions: readonly ProtocolVersion[],
  tenant: string | undefined,
): AgentInterface[] {
  return versions.flatMap((protocolVersion) => {
    const about = { protocolVersion, ...(tenant && protocolVersion === "1.0" ? { tenant } : {}) };
    return [
      { url, protocolBinding: "JSONRPC", ...about },
      { url, protocolBinding: "HTTP+JSON", ...about },
    ];
  });
}
