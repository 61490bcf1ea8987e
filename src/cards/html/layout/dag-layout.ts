import { computeCardCauses } from "../card-causes.ts";
import type { PageCard } from "../run-model.ts";

/** Every card of a problem and what it came of: further down, what was possible only later. */
export interface DagLayout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly DagNode[];
  readonly edges: readonly { readonly from: DagNode; readonly to: DagNode }[];
}

export interface DagNode {
  readonly pageCard: PageCard;
  readonly x: number;
  readonly y: number;
}

export const NODE_SIZE: { readonly width: number; readonly height: number } = { width: 220, height: 60 };
const NODE_GAP = { x: 26, y: 30 };
const DIAGRAM_MARGIN = 20;

export function computeDagLayout(
  cards: readonly PageCard[],
  causes: ReadonlyMap<PageCard, readonly PageCard[]> = computeCardCauses(cards),
): DagLayout {
  const taken: Set<number>[] = [];
  const places = new Map<PageCard, { readonly depth: number; readonly column: number }>();
  const nodes = new Map<PageCard, DagNode>();
  for (const seen of cards) {
    // Causes were sent before, so they have their place already.
    const above = (causes.get(seen) ?? []).flatMap((cause) => places.get(cause) ?? []);
    const depth = Math.max(-1, ...above.map((place) => place.depth)) + 1;
    const columns = above.map(({ column }) => column).toSorted((a, b) => a - b);
    const row = (taken[depth] ??= new Set());
    const column = findNearestFreeColumn(row, columns[Math.floor(columns.length / 2)] ?? 0);
    row.add(column);
    places.set(seen, { depth, column });
    nodes.set(seen, {
      pageCard: seen,
      x: DIAGRAM_MARGIN + column * (NODE_SIZE.width + NODE_GAP.x),
      y: DIAGRAM_MARGIN + depth * (NODE_SIZE.height + NODE_GAP.y),
    });
  }
  const all = [...nodes.values()];
  return {
    width: Math.max(0, ...all.map(({ x }) => x + NODE_SIZE.width)) + DIAGRAM_MARGIN,
    height: Math.max(0, ...all.map(({ y }) => y + NODE_SIZE.height)) + DIAGRAM_MARGIN,
    nodes: all,
    edges: all.flatMap((to) =>
      (causes.get(to.pageCard) ?? []).flatMap((cause) => {
        const from = nodes.get(cause);
        return from ? [{ from, to }] : [];
      }),
    ),
  };
}

/** Below what it came of, or beside that. */
function findNearestFreeColumn(taken: ReadonlySet<number>, wanted: number): number {
  for (let away = 0; ; away++) {
    if (!taken.has(wanted + away)) return wanted + away;
    if (wanted >= away && !taken.has(wanted - away)) return wanted - away;
  }
}
