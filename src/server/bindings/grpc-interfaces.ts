import type { AgentInterface } from "../../protocol/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";
import type { ServedAgent } from "../served-agent.ts";

/**
 * Returns the gRPC interfaces of one A2A version. A2A 0.3 interfaces cannot contain a tenant. If a tenant is
 * required, the result for A2A 0.3 is therefore empty.
 */
export function buildGrpcInterfaces(
  protocolVersion: ProtocolVersion,
  url: string,
  tenant: string | undefined,
): AgentInterface[] {
  const common = { url, protocolBinding: "GRPC", protocolVersion };
  if (!tenant) return [common];
  return protocolVersion === "0.3" ? [] : [{ ...common, tenant }];
}

/**
 * Returns the `tenant` value that selects an agent in gRPC calls. The value consists of the agent id and the
 * optional tenant name.
 */
export function formatAgentSelectingTenant({ id }: ServedAgent, tenant: string | undefined): string {
  return tenant ? `${id}/${tenant}` : id;
}
