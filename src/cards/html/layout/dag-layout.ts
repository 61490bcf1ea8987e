import { computeCardCauses } from "../card-causes.ts";
import type { PageCard } from "../run-model.ts";

/** Layout of the causal graph of a problem. Each message card is below all its causes. */
interface DagLayout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly DagCardNode[];
  readonly edges: readonly { readonly from: DagCardNode; readonly to: DagCardNode }[];
}

/** Position of a message card in the causal graph. */
interface DagCardNode {
  readonly pageCard: PageCard;
  readonly x: number;
  readonly y: number;
}

/** Size of a graph node in pixels. */
export const DAG_NODE_SIZE: { readonly width: number; readonly height: number } = { width: 220, height: 60 };
const NODE_GAP = { x: 26, y: 30 };
const DIAGRAM_MARGIN = 20;

export function computeDagLayout(
  cards: readonly PageCard[],
  causes: ReadonlyMap<PageCard, readonly PageCard[]> = computeCardCauses(cards),
): DagLayout {
  const taken: Set<number>[] = [];
  const positions = new Map<PageCard, { readonly depth: number; readonly column: number }>();
  const nodes = new Map<PageCard, DagCardNode>();
  for (const seen of cards) {
    // Causes were sent earlier, so they already have positions.
    const above = (causes.get(seen) ?? []).flatMap((cause) => positions.get(cause) ?? []);
    const depth = Math.max(-1, ...above.map((position) => position.depth)) + 1;
    const columns = above.map(({ column }) => column).toSorted((a, b) => a - b);
    const row = (taken[depth] ??= new Set());
    const column = findNearestFreeColumn(row, columns[Math.floor(columns.length / 2)] ?? 0);
    row.add(column);
    positions.set(seen, { depth, column });
    nodes.set(seen, {
      pageCard: seen,
      x: DIAGRAM_MARGIN + column * (DAG_NODE_SIZE.width + NODE_GAP.x),
      y: DIAGRAM_MARGIN + depth * (DAG_NODE_SIZE.height + NODE_GAP.y),
    });
  }
  const allNodes = [...nodes.values()];
  return {
    width: Math.max(0, ...allNodes.map(({ x }) => x + DAG_NODE_SIZE.width)) + DIAGRAM_MARGIN,
    height: Math.max(0, ...allNodes.map(({ y }) => y + DAG_NODE_SIZE.height)) + DIAGRAM_MARGIN,
    nodes: allNodes,
    edges: allNodes.flatMap((to) =>
      (causes.get(to.pageCard) ?? []).flatMap((cause) => {
        const from = nodes.get(cause);
        return from ? [{ from, to }] : [];
      }),
    ),
  };
}

function findNearestFreeColumn(taken: ReadonlySet<number>, wanted: number): number {
  for (let away = 0; ; away++) {
    if (!taken.has(wanted + away)) return wanted + away;
    if (wanted >= away && !taken.has(wanted - away)) return wanted - away;
  }
}
