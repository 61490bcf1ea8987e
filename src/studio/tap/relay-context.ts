import type { TrafficWriter } from "../../observe/trace/recording/index.ts";
import type { AgentDirectory } from "./cards/agent-directory.ts";
import type { CardRewriter } from "./cards/card-rewriter.ts";
import type { FaultSwitches } from "./faults/fault-switches.ts";

/** What the relays of all listeners share. */
export interface RelayContext {
  readonly writer: TrafficWriter;
  readonly switches: FaultSwitches;
  readonly directory: AgentDirectory;
  readonly cards: CardRewriter;
  /** Identifies this tap in `Via` headers, so that a tap refuses its own requests. */
  readonly pseudonym: string;
  /** Whether the tap checks the TLS certificates of agents. */
  readonly verifyCertificates: boolean;
  /** Maximum time in milliseconds for a connection to an agent. */
  readonly connectMs: number;
  readonly monotonicNow: () => number;
  /** Aborted when the tap stops. The reason is the error of the calls in progress. */
  readonly stopSignal: AbortSignal;
  readonly onCallEnd: (call: TapCallSummary) => void;
}

/** A finished call, for the log of the tap. */
export interface TapCallSummary {
  /** Name of the called agent in the record. */
  readonly agent: string;
  readonly operation: string;
  /** HTTP status or gRPC status, or undefined without a response. */
  readonly status?: number | string;
  /** Number of frames of a streaming response. */
  readonly frames?: number;
  /** Problem of the call, for example `cut`. */
  readonly problem?: string;
  readonly durationMs: number;
}
