import type { ClientBindingName } from "../../src/client/index.ts";

/** A combination of binding and protocol version. */
export interface ProtocolVariant {
  readonly binding: ClientBindingName;
  readonly version: "1.0" | "0.3";
}

export const PROTOCOL_VARIANTS: readonly ProtocolVariant[] = (["1.0", "0.3"] as const).flatMap((version) =>
  (["JSONRPC", "HTTP+JSON", "GRPC"] as const).map((binding) => ({ binding, version })),
);

/** The outcome of one scenario. */
export interface ScenarioOutcome {
  readonly scenario: string;
  readonly ok: boolean;
  /** The reason for a failure. */
  readonly detail?: string;
}
