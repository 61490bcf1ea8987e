/**
 * Whether decoders accept messages of real peers that the specification forbids. `all` accepts every message
 * in `LENIENCIES`. `none` accepts only what the specification allows, as a conformance test requires.
 */
export type PeerLeniency = "all" | "none";

/**
 * The peers for which Colloquy accepts a deviation from the specification, by the name of the deviation, with the
 * versions in which the deviation was measured. Each name is that of one check in the code. Decision 019 explains when to
 * add an entry, and docs/interop.md lists the versions and bindings to which each entry applies.
 */
export const LENIENCIES = {
  /**
   * The bytes field `file_with_bytes` contains the base64 text of the file. Base64 text is decoded, and these SDKs
   * receive base64 text (decision 018).
   */
  base64TextOfFile: "a2a-sdk 0.3.26 and 1.3.0 (Python), a2a-go 0.3.15 and 2.4.0, a2a-java 0.3.3",
  /** Timestamps in responses have no offset from UTC, which RFC 3339 does not allow. The time is UTC. */
  timestampWithoutOffset: "fasta2a 2.1.1 (Pydantic AI 2.68.0)",
  /** A request without a page size has the page size 0. The server uses its default page size. */
  zeroPageSize: "a2a-go 2.4.0",
  /** The path is `/.well-known/agent-card.json/`. The server returns the agent card. */
  slashAfterCardPath: "clients that append a slash to every path",
  /** The scopes of a security requirement are a list, and not an object with the member `list`. The client reads it. */
  scopesAsList: "a2a-go 2.4.0",
  /**
   * A security scheme or an OAuth flow is `{$case, value}` in a member `scheme` or `flow`. The client reads `value` as
   * the member that `$case` names.
   */
  oneofAsCase: "@a2a-js/sdk 1.3.0",
} as const;

/** The name of a deviation from the specification. */
export type LeniencyName = keyof typeof LENIENCIES;

/**
 * Returns whether a decoder accepts a deviation. The parameter `name` documents which entry of `LENIENCIES`
 * the caller implements.
 */
export function isDeviationAccepted(_name: LeniencyName, leniency: PeerLeniency): boolean {
  return leniency === "all";
}
