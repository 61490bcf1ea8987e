import { A2AError } from "../protocol/index.ts";
import { type AuthCard, describe, requirementsOf } from "./auth/plan.ts";
import type { Transport } from "./transport/transport.ts";

/** For a caller without credentials: a refusal then says which the card asks for, whatever the agent says itself. */
export function explaining(transport: Transport, card: AuthCard): Transport {
  const requirements = requirementsOf(card).filter(({ size }) => size > 0);
  if (requirements.length === 0) return transport;
  const told = (error: unknown): unknown => {
    if (!(error instanceof A2AError) || error.reason !== "UNAUTHENTICATED") return error;
    const message = `${error.message.replace(/\.?$/, ".")} The card asks for ${describe(requirements)}.`;
    return new A2AError(error.reason, message, { metadata: error.metadata, cause: error });
  };
  return {
    version: transport.version,
    call: (operation, params, call) =>
      transport.call(operation, params, call).catch((error: unknown) => {
        throw told(error);
      }),
    async *stream(operation, params, call) {
      try {
        yield* transport.stream(operation, params, call);
      } catch (error) {
        throw told(error);
      }
    },
  };
}
