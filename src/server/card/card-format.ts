import type { AgentCard } from "../../protocol/index.ts";
import { v0_3, type ProtocolVersion } from "../../wire/index.ts";
import type { RequestHead } from "../bindings/request-pipeline.ts";

/** How a card is written: for readers of one version, or as one object that readers of both understand. */
export type CardFormat = "v1" | "v0.3" | "hybrid";

/** Which cards there are. */
export interface CardFormatOptions {
  /** The protocol versions that are served, the preferred one first. */
  readonly versions: readonly ProtocolVersion[];
  /** For those who do not say their version. Default `hybrid` where there are two. */
  readonly cardFormat?: CardFormat | undefined;
}

const FORMAT_BY_VERSION: Readonly<Record<ProtocolVersion, CardFormat>> = { "1.0": "v1", "0.3": "v0.3" };

/** The shape of the card that a request gets: its version's, if that is served, or the one for those who name none. */
export function negotiateCardFormat(
  request: RequestHead,
  { versions, cardFormat: card }: CardFormatOptions,
): CardFormat {
  const asked = request.header("a2a-version") ?? new URLSearchParams(request.query).get("A2A-Version") ?? "";
  const named = versions.find(
    (version) => asked.trim() === version || asked.trim().startsWith(`${version}.`),
  );
  if (named) return FORMAT_BY_VERSION[named];
  return card ?? (versions.length > 1 ? "hybrid" : FORMAT_BY_VERSION[versions[0] ?? "1.0"]);
}

const CARD_ENCODERS: Readonly<Record<CardFormat, (card: AgentCard) => object>> = {
  v1: (card) => card,
  "v0.3": v0_3.toCard03,
  hybrid: v0_3.toHybridCard,
};

/** The card in a shape. */
export function encodeCard(card: AgentCard, shape: CardFormat): object {
  return CARD_ENCODERS[shape](card);
}
