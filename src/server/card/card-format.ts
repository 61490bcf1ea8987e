import type { AgentCard } from "../../protocol/index.ts";
import { v0_3, type ProtocolVersion } from "../../wire/index.ts";
import type { RequestHead } from "../bindings/request-pipeline.ts";

/**
 * Format of an agent card: for clients of one version, or one object that clients of both versions can read.
 */
export type CardFormat = "v1" | "v0.3" | "hybrid";

/** Options that determine the format of a card. */
export interface CardFormatOptions {
  /** Protocol versions that the server accepts, in order of preference. */
  readonly versions: readonly ProtocolVersion[];
  /** Format for requests that name no version. Default: `hybrid` when the server accepts two versions. */
  readonly cardFormat?: CardFormat | undefined;
}

const FORMAT_BY_VERSION: Readonly<Record<ProtocolVersion, CardFormat>> = { "1.0": "v1", "0.3": "v0.3" };

/**
 * Returns the card format for a request: the format of its version if supported, otherwise the default
 * format.
 */
export function negotiateCardFormat(
  request: RequestHead,
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

const CARD_ENCODERS: Readonly<Record<CardFormat, (card: AgentCard) => object>> = {
  v1: (card) => card,
  "v0.3": v0_3.toCard03,
  hybrid: v0_3.toHybridCard,
};

/** Encodes a card in a format. */
export function encodeCard(card: AgentCard, format: CardFormat): object {
  return CARD_ENCODERS[format](card);
}
