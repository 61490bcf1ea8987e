import type { AgentCard } from "../../protocol/index.ts";
import type { ProtocolVersion } from "../../wire/index.ts";
import { loadV03 } from "../bindings/load-v0-3.ts";
import type { RequestMetadata } from "../http-exchange.ts";

/** Format of an agent card. A `hybrid` agent card is an object that A2A 1.0 and 0.3 clients can both read. */
export type CardFormat = "v1" | "v0.3" | "hybrid";

/** Options that determine the format of an agent card. */
export interface CardFormatOptions {
  /** A2A versions that the server accepts, in order of preference. */
  readonly versions: readonly ProtocolVersion[];
  /**
   * Format of the agent card for requests without an A2A version. The default format is `hybrid` if the
   * server accepts two A2A versions.
   */
  readonly cardFormat?: CardFormat | undefined;
}

const FORMAT_BY_VERSION: Readonly<Record<ProtocolVersion, CardFormat>> = { "1.0": "v1", "0.3": "v0.3" };

/**
 * Returns the card format for the A2A version of a request, or the default card format if the server does not
 * support the version.
 */
export function negotiateCardFormat(
  request: RequestMetadata,
  { versions, cardFormat }: CardFormatOptions,
): CardFormat {
  const requested =
    request.header("a2a-version") ?? new URLSearchParams(request.query).get("A2A-Version") ?? "";
  const version = versions.find(
    (supported) => requested.trim() === supported || requested.trim().startsWith(`${supported}.`),
  );
  if (version) return FORMAT_BY_VERSION[version];
  return cardFormat ?? (versions.length > 1 ? "hybrid" : FORMAT_BY_VERSION[versions[0] ?? "1.0"]);
}

/** Encodes an agent card in a card format. */
export async function encodeCardInFormat(card: AgentCard, format: CardFormat): Promise<object> {
  if (format === "v1") return card;
  const { toCard03, toHybridCard } = await loadV03();
  return format === "hybrid" ? toHybridCard(card) : toCard03(card);
}
