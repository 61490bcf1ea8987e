import type { ClientBinding } from "../../src/client/index.ts";

/** A binding and a version. */
export interface ProtocolVariant {
  readonly binding: ClientBinding;
  readonly version: "1.0" | "0.3";
}

export const PROTOCOL_VARIANTS: readonly ProtocolVariant[] = (["1.0", "0.3"] as const).flatMap((version) =>
  (["JSONRPC", "HTTP+JSON", "GRPC"] as const).map((binding) => ({ binding, version })),
);

/** What became of one scenario. */
export interface ScenarioOutcome {
  readonly scenario: string;
  readonly ok: boolean;
  /** What went wrong. */
  readonly detail?: string;
}
