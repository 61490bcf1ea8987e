import { type RoleEdge, listRolesInCards } from "../run-statistics.ts";

/**
 * Layout of the role graph. Roles form a row. Edges to the right are above the row, and edges to the left are
 * below the row.
 */
interface RoleGraphLayout {
  readonly width: number;
  readonly height: number;
  readonly roles: readonly { readonly name: string; readonly x: number; readonly y: number }[];
  readonly edges: readonly RoleGraphEdgeLayout[];
}

interface RoleGraphEdgeLayout {
  readonly edge: RoleEdge;
  readonly path: string;
  /** Horizontal position of the edge label in pixels. */
  readonly x: number;
  /** Vertical position of the edge label in pixels. */
  readonly y: number;
  /** Stroke width of the edge, which grows with the logarithm of the number of message cards. */
  readonly thickness: number;
}

/** Size of a role box in pixels. */
export const ROLE_BOX_SIZE: { readonly width: number; readonly height: number } = { width: 132, height: 44 };
const ROLE_GAP = 250;
const DIAGRAM_MARGIN = 90;

export function computeRoleGraphLayout(edges: readonly RoleEdge[]): RoleGraphLayout {
  const names = listRolesInCards(edges.map(({ from, to }) => ({ sender: from, recipient: to })));
  const furthest = Math.max(
    1,
    ...edges.map(({ from, to }) => Math.abs(names.indexOf(from) - names.indexOf(to))),
  );
  const middle = 60 + furthest * 46;
  const maxCount = Math.max(1, ...edges.map(({ cardCount }) => cardCount));
  const getX = (name: string): number => DIAGRAM_MARGIN + names.indexOf(name) * ROLE_GAP;
  return {
    width: 2 * DIAGRAM_MARGIN + Math.max(0, names.length - 1) * ROLE_GAP,
    height: 2 * middle,
    roles: names.map((name) => ({ name, x: getX(name), y: middle })),
    edges: edges.map((edge) => {
      const steps = names.indexOf(edge.to) - names.indexOf(edge.from);
      const side = steps < 0 ? 1 : -1;
      const bend = 22 + Math.abs(steps) * 44;
      const [x1, x2] = [getX(edge.from) - side * 34, getX(edge.to) + side * 34];
      const [start, top] = [
        middle + (side * ROLE_BOX_SIZE.height) / 2,
        middle + side * (ROLE_BOX_SIZE.height / 2 + bend),
      ];
      return {
        edge,
        path: `M ${x1} ${start} C ${x1} ${top}, ${x2} ${top}, ${x2} ${start}`,
        x: (x1 + x2) / 2,
        // The middle of a cubic curve is at three quarters of the height of its two control points.
        y: start + (top - start) * 0.75,
        thickness: 1 + (5 * Math.log1p(edge.cardCount)) / Math.log1p(maxCount) / 1.4,
      };
    }),
  };
}
