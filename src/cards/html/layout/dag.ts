import { causesOf } from "../causes.ts";
import type { SeenCard } from "../run-model.ts";

/** Every card of a problem and what it came of: further down, what was possible only later. */
export interface DagLayout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly DagNode[];
  readonly edges: readonly { readonly from: DagNode; readonly to: DagNode }[];
}

export interface DagNode {
  readonly seen: SeenCard;
  readonly x: number;
  readonly y: number;
}

export const NODE: { readonly width: number; readonly height: number } = { width: 220, height: 60 };
const GAP = { x: 26, y: 30 };
const MARGIN = 20;

export function dagLayout(
  cards: readonly SeenCard[],
  causes: ReadonlyMap<SeenCard, readonly SeenCard[]> = causesOf(cards),
): DagLayout {
  const depths = new Map<SeenCard, number>();
  const taken: number[] = [];
  const nodes = new Map<SeenCard, DagNode>();
  for (const seen of cards) {
    // Causes were sent before, so they have their place already.
    const depth = Math.max(-1, ...(causes.get(seen) ?? []).map((cause) => depths.get(cause) ?? -1)) + 1;
    depths.set(seen, depth);
    const row = taken[depth] ?? 0;
    taken[depth] = row + 1;
    nodes.set(seen, {
      seen,
      x: MARGIN + row * (NODE.width + GAP.x),
      y: MARGIN + depth * (NODE.height + GAP.y),
    });
  }
  const all = [...nodes.values()];
  return {
    width: Math.max(0, ...all.map(({ x }) => x + NODE.width)) + MARGIN,
    height: Math.max(0, ...all.map(({ y }) => y + NODE.height)) + MARGIN,
    nodes: all,
    edges: all.flatMap((to) =>
      (causes.get(to.seen) ?? []).flatMap((cause) => {
        const from = nodes.get(cause);
        return from ? [{ from, to }] : [];
      }),
    ),
  };
}
