import type { AgentInterface } from "../../protocol/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";

/**
 * Returns the HTTP interfaces of an agent: each binding of each version, in order of preference. Both
 * bindings have the same `url`, to which 0.3 clients append `/v1/…`. Interfaces of 0.3 have no `tenant`.
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
