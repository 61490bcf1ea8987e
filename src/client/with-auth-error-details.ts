import { A2AError } from "../protocol/index.ts";
import { type AgentCardSecurity, formatRequirements, listAuthRequirements } from "./auth/auth-plan.ts";
import type { Transport } from "./transport/transport.ts";

/**
 * Wraps a transport so that authentication errors list the credentials that the agent card requires.
 * `connect` wraps the transport if no credentials are configured.
 */
export function withAuthErrorDetails(transport: Transport, card: AgentCardSecurity): Transport {
  const requirements = listAuthRequirements(card).filter(({ size }) => size > 0);
  if (requirements.length === 0) return transport;
  const addRequirements = (error: unknown): unknown => {
    if (!(error instanceof A2AError) || error.reason !== "UNAUTHENTICATED") return error;
    const message = `${error.message.replace(/\.?$/, ".")} The card requires ${formatRequirements(requirements)}.`;
    return new A2AError(error.reason, message, { metadata: error.metadata, code: error.code, cause: error });
  };
  return {
    version: transport.version,
    call: (operation, params, call) =>
      transport.call(operation, params, call).catch((error: unknown) => {
        throw addRequirements(error);
      }),
    async *stream(operation, params, call) {
      try {
        yield* transport.stream(operation, params, call);
      } catch (error) {
        throw addRequirements(error);
      }
    },
  };
}
