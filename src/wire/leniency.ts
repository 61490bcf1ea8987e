/**
 * Whether decoders accept messages of real peers that the specification forbids. `all` accepts every message
 * in `LENIENCIES`. `none` accepts only what the specification allows, as a conformance test requires.
 */
export type PeerLeniency = "all" | "none";

/** The name of a deviation from the specification. */
export type LeniencyName =
  | "base64TextOfFile"
  | "timestampWithoutOffset"
  | "zeroPageSize"
  | "slashAfterCardPath"
  | "scopesAsList"
  | "oneofAsCase";

/** A rule of the specification that a real peer breaks, and that Colloquy does not enforce for that reason. */
export interface Leniency {
  /** The peer that breaks the rule, with the versions in which the deviation was measured. */
  readonly peer: string;
  /** A2A versions and bindings to which the leniency applies. */
  readonly appliesTo: string;
  /** What the peer sends. */
  readonly deviation: string;
  /** What Colloquy does instead of rejecting the message. */
  readonly treatment: string;
}

/**
 * All deviations from the specification that Colloquy accepts because a real peer sends them. Each entry
 * names one check in the code. Decision 019 explains when to add an entry.
 */
export const LENIENCIES: Readonly<Record<LeniencyName, Leniency>> = {
  base64TextOfFile: {
    peer: "a2a-sdk 0.3.26 and 1.3.0 (Python), a2a-go 0.3.15 and 2.4.0, a2a-java 0.3.3",
    appliesTo: "A2A 0.3 over gRPC and HTTP+JSON",
    deviation: "The bytes field `file_with_bytes` contains the base64 text of the file.",
    treatment: "Base64 text is decoded, and these SDKs receive base64 text (decision 018).",
  },
  timestampWithoutOffset: {
    peer: "fasta2a 2.1.1 (Pydantic AI 2.68.0)",
    appliesTo: "responses and notifications of all versions and bindings",
    deviation: "Timestamps have no offset from UTC, which RFC 3339 does not allow.",
    treatment: "The time is UTC.",
  },
  zeroPageSize: {
    peer: "a2a-go 2.4.0",
    appliesTo: "ListTasks of A2A 1.0 over gRPC",
    deviation: "A request without a page size has the page size 0.",
    treatment: "The server uses its default page size.",
  },
  slashAfterCardPath: {
    peer: "clients that append a slash to every path",
    appliesTo: "the agent card of all versions",
    deviation: "The path is `/.well-known/agent-card.json/`.",
    treatment: "The server returns the agent card.",
  },
  scopesAsList: {
    peer: "a2a-go 2.4.0",
    appliesTo: "agent cards of A2A 1.0",
    deviation: "The scopes of a security requirement are a list, and not an object with the member `list`.",
    treatment: "The client reads the list.",
  },
  oneofAsCase: {
    peer: "@a2a-js/sdk 1.3.0",
    appliesTo: "agent cards of A2A 1.0",
    deviation: "A security scheme or an OAuth flow is `{$case, value}` in a member `scheme` or `flow`.",
    treatment: "The client reads `value` as the member that `$case` names.",
  },
};

/**
 * Returns whether a decoder accepts a deviation. The parameter `name` documents which entry of `LENIENCIES`
 * the caller implements.
 */
export function isDeviationAccepted(_name: LeniencyName, leniency: PeerLeniency): boolean {
  return leniency === "all";
}
