import type { AgentCard } from "../../protocol/index.ts";
import { v0_3, type ProtocolVersion } from "../../wire/index.ts";
import type { Asked } from "../bindings/binding.ts";

/** How a card is written: for readers of one version, or as one object that readers of both understand. */
export type CardShape = "v1" | "v0.3" | "hybrid";

/** Which cards there are. */
export interface CardShapes {
  /** The protocol versions that are served, the preferred one first. */
  readonly versions: readonly ProtocolVersion[];
  /** For those who do not say their version. Default `hybrid` where there are two. */
  readonly card?: CardShape | undefined;
}

const SHAPE_OF: Readonly<Record<ProtocolVersion, CardShape>> = { "1.0": "v1", "0.3": "v0.3" };

/** The shape of the card that a request gets: its version's, if that is served, or the one for those who name none. */
export function shapeFor(request: Asked, { versions, card }: CardShapes): CardShape {
  const asked = request.header("a2a-version") ?? new URLSearchParams(request.query).get("A2A-Version") ?? "";
  const named = versions.find(
    (version) => asked.trim() === version || asked.trim().startsWith(`${version}.`),
  );
  if (named) return SHAPE_OF[named];
  return card ?? (versions.length > 1 ? "hybrid" : SHAPE_OF[versions[0] ?? "1.0"]);
}

const SHAPED: Readonly<Record<CardShape, (card: AgentCard) => object>> = {
  v1: (card) => card,
  "v0.3": v0_3.toCard,
  hybrid: v0_3.toHybridCard,
};

/** The card in a shape. */
export function shaped(card: AgentCard, shape: CardShape): object {
  return SHAPED[shape](card);
}
